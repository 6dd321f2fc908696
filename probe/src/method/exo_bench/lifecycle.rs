//! The life of the instance that is measured: made, waited for, removed on every road out.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::offer::Placement;
use super::trouble::BenchError;
use crate::capture::cluster::{Cluster, ClusterError};
use crate::capture::event::Event;
use crate::capture::recorder::Recorder;
use crate::endpoint::exo::placement::{Instance, read_instances};
use crate::endpoint::exo::query_value;
use crate::endpoint::exo::runner::Runner;
use crate::plan::Plan;

/// exo's client asks ten times a second while an instance loads.
const READY_EVERY: Duration = Duration::from_millis(100);
/// … and every 0.4 s whether it is gone,
const GONE_EVERY: Duration = Duration::from_millis(400);
/// … but gives up after 3 s and loses the run with it. Freeing the memory of a large model takes longer.
const GONE_WITHIN: Duration = Duration::from_secs(30);
/// exo answers a posted instance before it is there: one that is cut off just then must be waited for to be removed.
const APPEARS_WITHIN: Duration = Duration::from_secs(5);
/// Who wants to leave at once still waits so long for the request to remove the instance to be heard.
const LAST_WORD: Duration = Duration::from_secs(2);

/// The instances that are there now.
///
/// # Errors
/// The cluster does not answer as it should.
pub async fn present(cluster: &Cluster) -> Result<Vec<Instance>, BenchError> {
    let state = cluster.get("/state").await?;
    Ok(state.get("instances").map_or_else(|| Ok(Vec::new()), read_instances)?)
}

/// Makes room: the instances of others are deleted where that was asked for, and a reason to stop where not. One of
/// this run's `own` that is slow to go is no reason.
///
/// # Errors
/// There are some and they shall stay, or the cluster does not answer.
pub async fn clear(
    cluster: &Cluster,
    recorder: &mut Recorder,
    plan: &Plan,
    own: &BTreeSet<String>,
) -> Result<(), BenchError> {
    let others: Vec<Instance> =
        present(cluster).await?.into_iter().filter(|instance| !own.contains(&instance.id)).collect();
    if others.is_empty() {
        return Ok(());
    }
    if !plan.delete_other_instances {
        let list: Vec<String> = others.iter().map(|other| format!("{} ({})", other.id, other.model_id)).collect();
        return Err(BenchError::OtherInstances { list: list.join(", ") });
    }
    for other in &others {
        recorder.notice(format!("the instance {} of {} was deleted before measuring", other.id, other.model_id));
        cluster.delete(&format!("/instance/{}", query_value(&other.id))).await?;
    }
    cluster.interrupt.pause(plan.pauses.after_cleanup_s).await?;
    Ok(())
}

/// Asks for an instance exactly as it was offered.
///
/// # Errors
/// The cluster says no: too little memory, most likely.
pub async fn create(cluster: &Cluster, placement: &Placement) -> Result<(), BenchError> {
    cluster.post("/instance", &json!({"instance": placement.instance.verbatim})).await?;
    Ok(())
}

/// Waits until every runner of the instance can answer.
///
/// # Errors
/// A runner failed, the instance vanished, or the deadline passed.
pub async fn wait_ready(
    cluster: &Cluster,
    recorder: &mut Recorder,
    plan: &Plan,
    instance: &Instance,
) -> Result<(), BenchError> {
    let deadline = Instant::now() + plan.deadlines.ready;
    let not_ready = |reason: String| BenchError::NotReady { instance: instance.id.clone(), reason };
    let mut seen = false;
    let mut told = String::new();
    let mut patience = Patience::default();
    loop {
        let target = format!("/state/instances/{}", query_value(&instance.id));
        let Some(there) = patience.bear(cluster.find(&target).await)? else {
            cluster.interrupt.pause(GONE_EVERY.as_secs_f64()).await?;
            continue;
        };
        let there = there.is_some();
        if seen && !there {
            return Err(not_ready("the cluster dropped it while it was loading".into()));
        }
        seen |= there;
        let mut waiting = Vec::new();
        if !seen {
            waiting.push("the cluster to accept the instance".to_owned());
        }
        for shard in &instance.shards {
            // A runner is not there yet for many seconds; that is normal.
            let target = format!("/state/runners/{}", query_value(&shard.runner));
            let Some(status) = patience.bear(cluster.find(&target).await)? else {
                waiting.push("the cluster to tell how its runner is".into());
                continue;
            };
            match status.as_ref().map(Runner::read).transpose()? {
                Some(Runner::Able) => {}
                Some(Runner::Failed(words)) => return Err(not_ready(format!("its runner failed: {words}"))),
                Some(Runner::Loading(Some((done, all)))) => waiting.push(format!("layers, {done} of {all} loaded")),
                Some(Runner::Loading(None)) => waiting.push("layers to load".into()),
                Some(Runner::Other(word)) => waiting.push(format!("its runner, now {word}")),
                None => waiting.push("its runner to start".into()),
            }
        }
        if waiting.is_empty() {
            return Ok(());
        }
        let what = waiting.join("; ");
        if what != told {
            told.clone_from(&what);
            recorder.record(Event::Waiting { what: what.clone() });
        }
        if Instant::now() >= deadline {
            let waited = plan.deadlines.ready.as_secs_f64();
            return Err(not_ready(format!("after {waited} s (--ready-timeout) it still waits for {what}")));
        }
        cluster.interrupt.pause(READY_EVERY.as_secs_f64()).await?;
    }
}

/// A loading model may keep a node from answering for a while; a poll that is not answered then is no reason to give up.
const BEAR: u32 = 25;

/// Bears questions that are not answered, up to so many in a row.
#[derive(Debug, Default)]
struct Patience {
    unanswered: u32,
}

impl Patience {
    /// The answer; none for one more that is borne. A wish to stop and a clear no are passed on.
    fn bear<T>(&mut self, answer: Result<T, ClusterError>) -> Result<Option<T>, ClusterError> {
        match answer {
            Ok(answer) => {
                self.unanswered = 0;
                Ok(Some(answer))
            }
            Err(
                ClusterError::Transport(_) | ClusterError::Broken { .. } | ClusterError::Refused { status: 500.., .. },
            ) if self.unanswered < BEAR => {
                self.unanswered += 1;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// Removes the instance and waits until it is gone, also when the run shall stop; a second wish to stop leaves as soon as
/// the cluster was told.
///
/// Whatever does not work is a notice: what was measured stays measured.
pub async fn remove(cluster: &Cluster, recorder: &mut Recorder, instance: &Instance) {
    if let Err(reason) = remove_and_wait(cluster, instance).await {
        recorder.notice(format!(
            "the instance {} may still be on the cluster: {reason}; look with GET /state/instances, remove it with DELETE /instance/{}",
            instance.id, instance.id
        ));
    }
}

async fn remove_and_wait(cluster: &Cluster, instance: &Instance) -> Result<(), String> {
    let target = format!("/instance/{}", query_value(&instance.id));
    let patient = cluster.regardless();
    let in_a_hurry = async {
        cluster.interrupt.insisted().await;
        tokio::time::sleep(LAST_WORD).await;
    };
    let was_there = tokio::select! {
        answer = delete(&patient, &target) => answer?,
        () = in_a_hurry => return Err("the cluster did not answer and the run was interrupted twice".into()),
    };
    tokio::select! {
        biased;
        gone = wait_gone(&patient, &target, was_there, GONE_WITHIN) => gone,
        () = cluster.interrupt.insisted() => Err("it was told to go, but the run was interrupted twice".into()),
    }
}

/// Tells an instance to go, again where the cluster fails to take it: one answer that was lost must not leave a model in
/// the memory of a cluster. Gives whether it was there.
async fn delete(cluster: &Cluster, target: &str) -> Result<bool, String> {
    let mut tries = 0;
    loop {
        match cluster.delete(target).await {
            Ok(was_there) => return Ok(was_there),
            Err(error) if tries == DELETE_AGAIN => return Err(error.to_string()),
            Err(_) => tries += 1,
        }
        tokio::time::sleep(GONE_EVERY).await;
    }
}

/// A broken connection is seldom broken three times.
const DELETE_AGAIN: u32 = 3;

/// Waits until an instance that was told to go is gone. One that was not there when told may be about to come.
async fn wait_gone(cluster: &Cluster, target: &str, mut told: bool, within: Duration) -> Result<(), String> {
    let began = Instant::now();
    loop {
        let there = cluster.find(target).await.map_err(|error| error.to_string())?.is_some();
        if !there && (told || began.elapsed() >= APPEARS_WITHIN) {
            return Ok(());
        }
        // Also for a cluster that denies the instance when told and shows it when asked.
        if there && began.elapsed() >= within {
            return Err(format!("it was told to go but is still there after {} s", within.as_secs()));
        }
        if there && !told {
            told = delete(cluster, target).await?;
        }
        tokio::time::sleep(GONE_EVERY).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use axum::Router;
    use axum::http::{Method, StatusCode};

    use super::*;
    use crate::capture::clock::Clock;
    use crate::capture::interrupt::{Interrupt, Why};
    use crate::plan::Address;

    /// What a server was asked, method by method.
    type Asked = Arc<Mutex<Vec<Method>>>;

    /// A server that answers each request with what `answer` makes of the requests so far, the present one included.
    async fn server(answer: fn(&[Method]) -> StatusCode) -> (Cluster, Asked) {
        let asked = Asked::default();
        let seen = asked.clone();
        let router = Router::new().fallback(move |method: Method| async move {
            let mut seen = seen.lock().unwrap();
            seen.push(method);
            (answer(&seen), "{}")
        });
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let address = Address { host: "127.0.0.1".into(), port };
        (Cluster::new(address, Clock::start(), Interrupt::default()), asked)
    }

    fn instance() -> Instance {
        Instance { verbatim: json!({}), id: "i".into(), model_id: "m".into(), shards: Vec::new() }
    }

    async fn notices(cluster: &Cluster) -> Vec<String> {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listener = {
            let heard = heard.clone();
            move |event: &Event| {
                if let Event::Notice { sentence } = event {
                    heard.lock().unwrap().push(sentence.clone());
                }
            }
        };
        let mut recorder = Recorder::new(None, Box::new(listener), cluster.interrupt.clone());
        remove(cluster, &mut recorder, &instance()).await;
        heard.lock().unwrap().clone()
    }

    #[tokio::test]
    async fn a_cluster_that_denies_the_instance_and_shows_it_is_not_asked_for_ever() {
        let (cluster, _) = server(|seen| match seen.last() {
            Some(&Method::DELETE) => StatusCode::NOT_FOUND,
            _ => StatusCode::OK,
        })
        .await;
        let error = wait_gone(&cluster, "/instance/i", false, Duration::from_secs(1)).await.unwrap_err();
        assert!(error.contains("still there after 1 s"), "{error}");
    }

    #[tokio::test]
    async fn a_refused_delete_is_sent_again() {
        // asked     DELETE  DELETE  GET
        // answered  500     done    404
        let (cluster, asked) = server(|seen| match seen.len() {
            1 => StatusCode::INTERNAL_SERVER_ERROR,
            2 => StatusCode::OK,
            _ => StatusCode::NOT_FOUND,
        })
        .await;
        assert_eq!(notices(&cluster).await, Vec::<String>::new());
        assert_eq!(*asked.lock().unwrap(), [Method::DELETE, Method::DELETE, Method::GET]);
    }

    #[tokio::test]
    async fn an_instance_that_appears_after_it_was_told_to_go_is_told_again() {
        // asked     DELETE  GET   GET    DELETE  GET
        // answered  404     404   there  done    404
        let (cluster, asked) = server(|seen| match seen.len() {
            3 | 4 => StatusCode::OK,
            _ => StatusCode::NOT_FOUND,
        })
        .await;
        assert_eq!(notices(&cluster).await, Vec::<String>::new());
        assert_eq!(*asked.lock().unwrap(), [Method::DELETE, Method::GET, Method::GET, Method::DELETE, Method::GET]);
    }

    #[tokio::test]
    async fn who_insists_on_leaving_still_tells_the_cluster() {
        let (cluster, asked) = server(|_| StatusCode::OK).await;
        cluster.interrupt.raise(Why::User);
        cluster.interrupt.raise(Why::User);
        let notices = notices(&cluster).await;
        assert_eq!(asked.lock().unwrap().first(), Some(&Method::DELETE));
        assert!(notices.len() == 1 && notices[0].contains("interrupted twice"), "{notices:?}");
    }
}
