//! The demo data: two firms alike, so that a leak from one to the other shows.

pub mod ids;
