"""From things to vectors: names and numbers to the sparse rows that the learners take."""
