"""What touches the outside: embedding models, the vector store, files of frames."""
