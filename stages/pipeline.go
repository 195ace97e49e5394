package stages

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/rs/zerolog"

	"pmg/gateway"
	"pmg/stages/flow"
)

// The rows of the table, by name.
const (
	toListener = iota
	toReader
	toCipher
	toParser
	toPDULogger
	toBuilder
	toPersister
	toDispatcher
	toConnecter
	toEncoder
	toPDUBuilder
	toWriter
)

// Table returns the stages in order. Only this table defines the order of the stages and the ways
// between them.
func Table() []flow.Spec[*Deps, Job] {
	table := []flow.Spec[*Deps, Job]{
		{Name: "listener", Doc: "accepts clients' connections", To: []string{"reader"}, Shared: true, New: newListener},
		{
			Name: "reader", Doc: "waits for data on every socket and reads it; alone ends sessions",
			To: []string{"cipher", "parser", "writer"}, New: newReader,
		},
		{
			Name: "cipher", Doc: "decrypts and encrypts the octets of sessions with tls", To: []string{"parser", "writer"},
			New: newCipherer,
		},
		{Name: "parser", Doc: "splits octets into PDUs and decodes their fields", To: []string{"pdu logger"}, New: newParser},
		{
			Name: "pdu logger", Doc: "writes every PDU, both ways, to its connector's file",
			To: []string{"builder", "pdu builder", "dispatcher"}, New: newPDULogger,
		},
		{
			Name: "builder", Doc: "runs the sessions, answers requests, makes messages of PDUs; asks the hook login",
			To: []string{"pdu logger", "persister", "dispatcher"}, New: newBuilder,
		},
		{
			Name: "persister", Doc: "stores accepted messages before they are answered",
			To: []string{"builder", "dispatcher"}, New: newPersister,
		},
		{
			Name: "dispatcher", Doc: "pairs waiting messages with free slots; asks the hook send",
			To: []string{"encoder", "connecter", "builder"}, Yields: true, Shared: true, New: newDispatcher,
		},
		{
			Name: "connecter", Doc: "connects instances, all in parallel, and begins their sessions",
			To: []string{"pdu logger", "reader", "dispatcher"}, Shared: true, New: newConnecter,
		},
		{Name: "encoder", Doc: "makes PDUs of messages", To: []string{"pdu logger", "dispatcher"}, New: newEncoder},
		{
			Name: "pdu builder", Doc: "makes bytes of PDUs, all of a session's in one piece",
			To: []string{"cipher", "writer", "dispatcher"}, New: newPDUBuilder,
		},
		{Name: "writer", Doc: "writes to the sockets", To: []string{"reader"}, New: newWriter},
	}
	for i := range table {
		table[i].Ends = sessionEnds
	}
	table[toCipher].Waits = math.MaxInt    // turns of handshakes; node.Node.Handshakes limits how many run at the same time
	table[toBuilder].Waits = math.MaxInt   // password hashes and operations; the gateway limits their number
	table[toConnecter].Waits = math.MaxInt // all instances are connected in parallel
	return table
}

// sessionEnds are the stages to which every stage may send jobs when a session ends. The reader
// ends the session. The listener or the dispatcher gets the instance back.
var sessionEnds = []string{"reader", "listener", "dispatcher"}

// Deps are the dependencies of the stages.
type Deps struct {
	Context    context.Context // ends when the pipeline is closed, and then ends all blocking calls of stages
	Gateway    *gateway.Gateway
	Pool       *flow.Pool[Job]
	Log        zerolog.Logger
	Holds      func() bool // reports whether this process may send; nil: it may always send
	buffers    buffers
	groups     *groups     // the groups of stages, for sessions that begin
	dispatcher *dispatcher // the dispatcher, which gives slots to sessions
	Full       atomic.Bool // no client is read, because too many jobs are alive
}
