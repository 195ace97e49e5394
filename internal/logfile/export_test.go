package logfile

// NewWriter is what compresses files, for the benchmark, which needs the keys of pdu logs.
var NewWriter = newWriter
