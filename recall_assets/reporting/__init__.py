"""From figures to what people and machines read. No figure is computed here, and only here is one rounded."""
