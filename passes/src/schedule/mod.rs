//! Schedules of bufferized code.
