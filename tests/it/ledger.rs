//! Reports on the books.
