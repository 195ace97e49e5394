// Package admin shows operators a running gateway over HTTP:
//
//	/metrics      for Prometheus
//	/status       the same as JSON, which pmg status prints; ?sessions=1 lists the sessions
//	/healthz      200 while the stages make progress
//	/readyz       200 while the gateway is ready for traffic; else 503 and what is missing
//	/kick         POST: logs sessions out, of an account or one, which pmg kick asks for
//	/debug/pprof  Go's profiles, if asked for
//
// No message passes through here: a request reads what the connectors and the
// stages count anyway. There is no login, and no secret in any answer. What changes
// anything is asked for by POST, and never by a web page of another site.
// Only requests for a host name of the gateway's own are served, which keeps web pages
// out (host.go), and slow or many connections do not keep health checks from being
// answered (limit.go).
//
// # Work and waiting
//
// How many workers a load needs is its rate times the time that one piece of it
// holds a worker. With a worker per session that time is the session's duration;
// with workers that only work it is the session's working time. Both are shown
// for every connector, so that the difference is seen.
//
// The working time of a session is the PDUs its peer sent times the mean work per
// received PDU, since every PDU we send answers one or is answered by one. That mean
// is what all stages worked, over what all connectors received. The classic
// architecture has no stages; there the processor time of the process takes their place.
//
// Means of workers are over the time since the start and count the sessions that
// are still open; minimum, mean, maximum and deviation are of sessions that are over.
//
// # Start reading
//
// server.go (the paths), status.go (what is known), rows.go (what is made of that), then
// metrics.go (the table of metrics) and health.go. Whether the gateway is ready is
// decided by gateway.NotReady.
package admin
