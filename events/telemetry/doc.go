// Package telemetry sends traces of some messages to a collector of OpenTelemetry: as OTLP/HTTP with JSON. The trace of a
// message is made when the message ends, from its stored times. A message that is not sampled costs one comparison.
//
// # Start reading
//
// sampler.go (which messages), parent.go (traces of clients), span.go (the JSON), exporter.go (the goroutine that sends).
package telemetry
