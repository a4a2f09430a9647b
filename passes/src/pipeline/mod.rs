//! Named pipelines as data.
