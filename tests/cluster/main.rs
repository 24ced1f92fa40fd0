//! The API server of a cluster: what it answers is read, and whatever it does, no pod is missed and none is left over.

mod answers;
mod collector;
mod follow;
