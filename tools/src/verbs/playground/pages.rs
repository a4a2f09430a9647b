// SPDX-License-Identifier: Apache-2.0
//! The open pages, each with its language server, its graph and the work on its text.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::StatusCode;
use tokio::sync::oneshot;

use super::access::{Refusal, random_name};
use super::conversation::Conversation;

/// Maximum number of pages; opening another one closes the page that was used least recently.
const MAX_PAGES: usize = 16;

/// One page in a browser.
pub struct Page {
    pub conversation: Conversation,
    graph: Mutex<String>,
    /// Ends the work that was requested last when it is dropped.
    work: Mutex<Option<oneshot::Sender<()>>>,
}

impl Page {
    /// The page of the graph that was drawn last.
    pub fn graph(&self) -> String {
        lock(&self.graph).clone()
    }

    pub fn set_graph(&self, html: String) {
        *lock(&self.graph) = html;
    }

    /// Makes earlier work obsolete. The result fails when this work becomes obsolete.
    pub fn begin_work(&self) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        *lock(&self.work) = Some(sender);
        receiver
    }
}

/// The open pages by name, the one that was used last at the end.
#[derive(Default)]
pub struct Pages(Mutex<VecDeque<(String, Arc<Page>)>>);

impl Pages {
    pub fn open(&self) -> Result<(String, Arc<Page>), Refusal> {
        let failed = Refusal(StatusCode::SERVICE_UNAVAILABLE, "the language server cannot be started");
        let name = random_name().map_err(|_| failed)?;
        let conversation = Conversation::start().map_err(|_| failed)?;
        let page = Arc::new(Page { conversation, graph: Mutex::default(), work: Mutex::default() });
        let mut pages = lock(&self.0);
        if pages.len() == MAX_PAGES {
            pages.pop_front();
        }
        pages.push_back((name.clone(), Arc::clone(&page)));
        Ok((name, page))
    }

    pub fn get(&self, name: &str) -> Option<Arc<Page>> {
        let mut pages = lock(&self.0);
        let at = pages.iter().position(|(known, _)| known == name)?;
        let entry = pages.remove(at)?;
        let page = Arc::clone(&entry.1);
        pages.push_back(entry);
        Some(page)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_that_was_used_least_recently_is_closed() {
        let pages = Pages::default();
        let names: Vec<String> = (0..MAX_PAGES).map(|_| pages.open().unwrap().0).collect();
        let [first, second, ..] = &*names else { panic!("several pages") };
        assert!(pages.get(first).is_some());
        pages.open().unwrap();
        assert!(pages.get(first).is_some());
        assert!(pages.get(second).is_none());
        assert!(pages.get("").is_none());
    }

    #[test]
    fn newer_work_makes_older_work_obsolete() {
        let (_, page) = Pages::default().open().unwrap();
        let mut older = page.begin_work();
        assert_eq!(older.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        let mut newer = page.begin_work();
        assert_eq!(older.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        assert_eq!(newer.try_recv(), Err(oneshot::error::TryRecvError::Empty));
    }
}
