// Package admin shows operators a running gateway over HTTP:
//
//	/metrics      for Prometheus
//	/status       the same as JSON, for pmg status; ?sessions=1 lists the sessions
//	/messages     what became of messages, and of one with its id behind it, from the pdu logs, the events and the store
//	/history      the figures of the last hour as JSON, for charts
//	/healthz      200 while the stages make progress
//	/readyz       200 while the gateway is ready for traffic, otherwise 503 and the reasons; with ?of=node 200 while this node
//	              should have clients
//	/queue        the messages in the store, a page at a time, for pmg queue
//	/queue/…      POST: deletes, moves or retries some of them
//	/store/backup POST: copies the store into a directory of store.backups, for pmg store backup
//	/kick         POST: logs out one session, or those of an account, for pmg kick
//	/reload       POST: reads the configuration again, for pmg reload
//	/debug/pprof  Go's profiles, if the configuration enables them
//
// No message passes through this package: a request reads the counters of the connectors and the stages.
// Package access says who may ask for what. No answer contains a password. Only /queue and /messages show
// messages, and their texts to callers who ask for texts and may see them. Requests that change something
// must be a POST that does not come from a web page of another site. Only requests for one of the gateway's
// own host names are served, so that web pages cannot read anything (host.go). Slow or many connections do
// not prevent health checks from being answered (limit.go).
//
// # Start reading
//
// server.go (the paths), status.go (the data), rows.go (JSON, metrics and columns made
// from it), then metrics.go (the table of metrics) and health.go. gateway.NotReady
// decides whether the gateway is ready.
package admin
