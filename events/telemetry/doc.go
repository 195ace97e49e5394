// Package telemetry sends traces of some messages to a collector of OpenTelemetry: as OTLP/HTTP with JSON. A trace is made
// when a message ends, of the times that are known then. A message that is not sampled costs one comparison.
//
// # Start reading
//
// sampler.go (which messages), parent.go (traces of others), span.go (the JSON), exporter.go (the goroutine that sends).
package telemetry
