"""Turn things into vectors: names and numbers become the sparse rows that learners take."""
