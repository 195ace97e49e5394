package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"pmg/internal/console"
	"pmg/internal/figuretext"
	"pmg/loadtest"
	"pmg/loadtest/child"
	"pmg/loadtest/progress"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/protocols/smpp"
	"pmg/protocols/ucp"
)

// demoTimeout is how long the demo waits for an event that must happen.
const demoTimeout = 20 * time.Second

func newDemoCommand() *cobra.Command {
	o := loadtest.DefaultLoadOptions()
	var pmg, engine string
	var seconds float64
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work: clients and an SMSC, with a gateway between them",
		Long: `Starts pmg, and clients and an SMSC in this process, over real sockets on loopback
with free ports, sends messages through all of them, and reports whether every one arrived
exactly once. It leaves no files behind. An interrupt stops the sending and prints the
summary; a second one ends the program immediately.

With --protocol http clients send their messages in streams of the HTTP API to an SMSC that speaks SMPP. Then one
sends a message as curl does, and its server is called with what became of it: a webhook, which is signed.

The exit status is 1 when a message is missing, doubled, refused or unanswered.`,
		Example: `  pmgload demo
  pmgload demo --messages 1000000 --connections 256
  pmgload demo --seconds 10
  pmgload demo --protocol ucp
  pmgload demo --protocol http`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if seconds > 0 {
				o.Messages, o.Duration = 0, time.Duration(seconds*float64(time.Second))
			}
			return runDemo(cmd, pmg, engine, o)
		},
	}
	f := cmd.Flags()
	f.Int64Var(&o.Messages, "messages", 200_000, "how many messages to send")
	f.IntVar(&o.Connections, "connections", 64, "how many clients send them")
	f.IntVar(&o.Window, "window", 10, "messages each client may have unanswered")
	f.Float64Var(&seconds, "seconds", 0, "how long to send, instead of --messages")
	f.StringVar(
		&o.Protocol, "protocol", "smpp", "what clients and SMSC speak: "+loadtest.Protocols()+"; http: what clients speak",
	)
	f.StringVar(&engine, "store", "pebble", "where messages wait: pebble, on disk, or memory")
	f.StringVar(&pmg, "pmg", "", "the `program` pmg (default: the one in the directory of pmgload, or else in $PATH)")
	return cmd
}

// demoConfig is the gateway's: engine and directory of the store, directory of the pdu logs, options of the account,
// protocol, most clients and their window, protocol, address and other options of the SMSC.
const demoConfig = `
log: {format: json}
store: {engine: %s, dir: %q, ballast: 0, min_free: 1MiB}
pdulog: {dir: %q, max_size: 100GiB, max_total: 0, compress: false}
admin: {address: "127.0.0.1:0", socket: "off"}
accounts:
  - {system_id: load, password: secret%s}
connectors:
  - {name: clients,  direction: in,  protocol: %s, address: "127.0.0.1:0", instances: %d, window: %d}
  - {name: operator, direction: out, protocol: %s, address: %q, instances: %d, window: 10, system_id: pmg, password: secret%s}
routes:
  - {to: operator}
`

const smscSessions = 4

// A demo is a running demonstration.
type demo struct {
	sink     *loadtest.Sink
	gateway  *child.Child
	protocol string
	driver   protocols.SessionDriver // nil: HTTP
	web      *webClients             // nil: clients have sessions

	goroutinesOfOne, goroutinesOfAll int // of the gateway, with one client and with all
	load                             *loadtest.LoadResult
	delivered                        *loadtest.SinkResult
}

func runDemo(cmd *cobra.Command, pmg, engine string, o loadtest.LoadOptions) (err error) {
	ctx, stop := console.Interruptible(cmd.Context())
	defer stop()
	d := &demo{protocol: o.Protocol}
	switch o.Protocol {
	case "smpp":
		d.driver = smpp.New(smpp.Options{})
	case "ucp":
		d.driver = ucp.New(ucp.Options{})
	case "http":
	default:
		return fmt.Errorf("cannot speak protocol %q: use %s or http", o.Protocol, loadtest.Protocols())
	}
	if pmg, err = findPMG(pmg); err != nil {
		return err
	}
	if err := d.start(ctx, pmg, engine, o.Connections); err != nil {
		return err
	}
	defer d.gateway.Stop()
	out := cmd.OutOrStdout()
	kept := "every message on disk before its answer"
	if engine == "memory" {
		kept = "messages in memory only"
	}
	fmt.Fprintf(out, "%s ─► pmg ─► SMSC: real sockets, every PDU logged, %s\n\n", clients(o.Connections), kept)
	err = d.run(ctx, cmd.ErrOrStderr(), o)
	if serr := d.stop(); err == nil {
		err = serr
	}
	if err == nil {
		err = d.summary(out, o.Connections)
	}
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "\nThe gateway's log:\n%s", d.gateway.Log())
	}
	return err
}

// findPMG returns the program that is named, or else the one beside this, or else the one in $PATH.
func findPMG(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	if own, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(own), "pmg")
		if _, err := os.Stat(beside); err == nil {
			return beside, nil
		}
	}
	path, err := exec.LookPath("pmg")
	if err != nil {
		return "", fmt.Errorf("cannot find pmg beside pmgload or in $PATH: name it with --pmg: %w", err)
	}
	return path, nil
}

// demoInstances returns how many connections the gateway takes from so many clients: a client of the demo's own and one to spare,
// and a tenth of all, which an account of HTTP leaves to others.
func demoInstances(clients int) int { return (clients+2)*10/9 + 1 }

// start starts the SMSC and the gateway, and waits until the two are connected.
func (d *demo) start(ctx context.Context, pmg, engine string, connections int) (err error) {
	protocol, account, operator := d.protocol, "", ""
	smsc := loadtest.SinkOptions{Listen: "127.0.0.1:0", Protocol: protocol}
	if protocol == "http" {
		if d.web, err = startWebClients(); err != nil {
			return err
		}
		smsc.Protocol, smsc.Receipts, account = "smpp", true, d.web.account()
		operator = ", receipt_ids: same" // one receipt does not show it: its id may be a number in both notations
	}
	if d.sink, err = loadtest.StartSink(smsc); err != nil {
		if d.web != nil {
			_ = d.web.close()
		}
		return err
	}
	window := 1000
	if protocol == "ucp" {
		window = 99
	}
	// An interrupt ends the load alone: the gateway sends what it has, for the summary.
	d.gateway, err = child.StartGateway(context.WithoutCancel(ctx), []string{pmg, "serve", "-c"}, func(dir string) []byte {
		return fmt.Appendf(nil, demoConfig, engine, filepath.Join(dir, "store"), filepath.Join(dir, "pdulog"), account,
			protocol, demoInstances(connections), window, smsc.Protocol, d.sink.Addr(), smscSessions, operator)
	})
	if err == nil {
		if err = d.awaitOperator(ctx, func(c connector) bool { return c.SessionsBound == smscSessions }); err != nil {
			d.gateway.Stop()
		}
	}
	if err != nil {
		return errors.Join(err, d.closePeers())
	}
	return nil
}

// A connector is what the gateway says of one.
type connector struct {
	Name          string
	Sent          int64
	SessionsBound int `json:"sessions_bound"`
}

// awaitOperator waits until the gateway's connector to the SMSC is as it is to be.
func (d *demo) awaitOperator(ctx context.Context, isSo func(connector) bool) error {
	return d.gateway.Await(ctx, func() bool {
		var s struct{ Connectors []connector }
		if d.gateway.Status(&s) != nil {
			return false
		}
		return slices.ContainsFunc(s.Connectors, func(c connector) bool { return c.Name == "operator" && isSo(c) })
	})
}

// run counts the gateway's goroutines, sends the load, and then sends the message that
// the summary shows as an example.
func (d *demo) run(ctx context.Context, shown io.Writer, o loadtest.LoadOptions) (err error) {
	load := loadtest.Load
	if d.web != nil {
		load = d.web.load
	} else if err := d.count(o.Connections); err != nil {
		return err
	}
	o.To = d.gateway.Address
	p := progress.New(shown, o.Messages, o.Duration)
	o.Progress = func(c loadtest.Counts) { p.Show(c.Accepted, figuretext.Number(c.Answered)+" answered") }
	d.load, err = load(ctx, o)
	p.End()
	if err != nil {
		return err
	}
	waitCtx, cancel := context.WithTimeout(context.Background(), demoTimeout)
	defer cancel()
	_ = d.sink.Await(waitCtx, d.load.Accepted) // the summary reports messages that are missing
	d.delivered = d.sink.Result()
	// The lines of the example are the last ones: the gateway has read all answers of the SMSC before.
	if err := d.awaitOperator(waitCtx, func(c connector) bool { return c.Sent >= d.load.Accepted }); err != nil {
		return err
	}
	if d.web != nil {
		return d.web.send(waitCtx, d.gateway.Address, o.SystemID, o.Password)
	}
	conn, err := d.client()
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := d.ask(conn, d.requests().submit); err != nil {
		return err
	}
	for d.sink.Result().Unnumbered == 0 && waitCtx.Err() == nil { // a gateway that stops keeps what it has not sent
		time.Sleep(time.Millisecond)
	}
	return nil
}

// count counts the gateway's goroutines with one client, and with all.
func (d *demo) count(connections int) (err error) {
	if d.goroutinesOfOne, err = d.goroutines(1); err != nil {
		return err
	}
	d.goroutinesOfAll, err = d.goroutines(connections)
	return err
}

// stop drains and ends the gateway, and ends its peers.
func (d *demo) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), demoTimeout)
	defer cancel()
	return errors.Join(d.gateway.End(ctx), d.closePeers())
}

// closePeers ends the SMSC, and the server of the clients if they have one.
func (d *demo) closePeers() error {
	err := d.sink.Close()
	if d.web != nil {
		err = errors.Join(err, d.web.close())
	}
	return err
}

// goroutines counts the gateway's goroutines while n clients are logged in.
func (d *demo) goroutines(n int) (count int, err error) {
	for range n {
		conn, err := d.client()
		if err != nil {
			return 0, err
		}
		defer conn.Close()
	}
	// Goroutines that have just begun, or end, are not counted: the number stays the same.
	for same := 0; same < 3; time.Sleep(time.Millisecond) {
		now, err := d.countGoroutines()
		if err != nil {
			return 0, err
		}
		if same++; now != count {
			count, same = now, 0
		}
	}
	return count, nil
}

func (d *demo) countGoroutines() (int, error) {
	c, err := d.gateway.Counters()
	return int(c["go_goroutines"]), err
}

// client connects and logs in a client.
func (d *demo) client() (net.Conn, error) {
	conn, err := net.DialTimeout("tcp", d.gateway.Address, demoTimeout)
	if err != nil {
		return nil, fmt.Errorf("cannot connect: %w", err)
	}
	if err := d.ask(conn, d.requests().login); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// demoRequests are the requests of the demo's own client, in the form of the pdu log, and the PDUs
// of the log that show a message.
type demoRequests struct{ login, submit, shown string }

// shown returns the lines of the pdu logs that show the example message. Where clients speak HTTP they are those of
// the SMSC.
func (d *demo) shown() pdulog.Query {
	if d.web != nil {
		return pdulog.Query{
			Last: 4, Connectors: []string{"operator"},
			Filter: pdulog.Filter{Commands: []string{"submit_sm*", "deliver_sm*"}},
		}
	}
	return pdulog.Query{Last: 4, Filter: pdulog.Filter{Commands: []string{d.requests().shown}}}
}

func (d *demo) requests() demoRequests {
	if d.protocol == "ucp" {
		return demoRequests{
			"op60 seq=1 OAdC=load OTON=6 ONPI=5 STYP=1 PWD=736563726574 VERS=0100",
			`op51 seq=2 AdC=46700000002 OAdC=46700000001 MT=3 AMsg="Hello, world"`,
			"op51*",
		}
	}
	return demoRequests{
		"bind_transceiver seq=1 system_id=load password=secret interface_version=52",
		`submit_sm seq=2 source_addr=46700000001 destination_addr=46700000002 short_message="Hello, world"`,
		"submit_sm*",
	}
}

// ask sends a request, given as the pdu log prints it, and waits for its answer.
func (d *demo) ask(conn net.Conn, request string) error {
	p := d.driver.NewPDU()
	if err := d.driver.ParseLog(p, []byte(request)); err != nil {
		return err
	}
	command, _, _ := strings.Cut(request, " ")
	_ = conn.SetDeadline(time.Now().Add(demoTimeout))
	if _, err := conn.Write(p.AppendWire(nil)); err != nil {
		return fmt.Errorf("cannot send %s: %w", command, err)
	}
	b, err := d.readPDU(conn)
	if err == nil {
		err = d.driver.Decode(p, b)
	}
	if err == nil && p.Status() != 0 {
		err = errors.New(d.driver.StatusName(p.Status()))
	}
	if err != nil {
		return fmt.Errorf("cannot get an answer to %s: %w", command, err)
	}
	return nil
}

// readPDU reads one PDU. Nothing is expected behind it.
func (d *demo) readPDU(conn net.Conn) (b []byte, err error) {
	for {
		n, err := d.driver.Frame(b)
		if err != nil {
			return nil, err
		}
		if n <= len(b) {
			return b[:n], nil
		}
		at := len(b)
		b = append(b, make([]byte, n-at)...)
		if _, err := io.ReadFull(conn, b[at:]); err != nil {
			return nil, err
		}
	}
}

// summary prints the results, and returns an error if a message is missing, doubled,
// refused or unanswered.
func (d *demo) summary(out io.Writer, connections int) error {
	c := loadtest.Compare(d.load, d.delivered)
	within := func(us float64) time.Duration { return time.Duration(us * 1000).Round(10 * time.Microsecond) }
	problems := slices.Concat(d.load.Problems(), c.Problems())
	mark := "✓"
	if problems != nil {
		mark = "✗"
	}
	number := figuretext.Number
	sent, answered, delivered := number(c.Sent), number(c.Answered), number(c.Delivered)
	fmt.Fprintf(out, "%s messages     %s sent, %s answered, %s delivered\n", mark, sent, answered, delivered)
	fmt.Fprintf(out, "  missing      %s\n", number(c.Missing))
	fmt.Fprintf(out, "  doubled      %s\n", number(c.Doubled))
	fmt.Fprintf(out, "  throughput   %s messages a second, from client to SMSC\n", number(int64(d.delivered.MessagesPerSecond)))
	fmt.Fprintf(
		out, "  latency      half of the answers within %s, 99 %% within %s\n", within(d.load.Latency.P50),
		within(d.load.Latency.P99),
	)
	var err error
	if d.web != nil {
		fmt.Fprintln(out)
		err = d.web.print(out, func() error { return d.printLog(out) })
	} else {
		fmt.Fprintf(
			out, "  goroutines   %d with 1 client, %d with %s\n", d.goroutinesOfOne, d.goroutinesOfAll, clients(connections),
		)
		fmt.Fprintf(out, "\nOne message in the pdu log (%s):\n\n", d.logSize())
		err = d.printLog(out)
	}
	if err != nil {
		return err
	}
	return console.ProblemsError(problems)
}

func (d *demo) logs() string { return filepath.Join(d.gateway.Dir, "pdulog") }

// printLog prints the end of the pdu log, which shows the example message.
func (d *demo) printLog(out io.Writer) error {
	width := 0 // no limit
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		width, _, _ = term.GetSize(int(f.Fd()))
	}
	_, err := pdulog.Read(context.Background(), d.logs(), d.shown(), func(e *pdulog.Entry) error {
		line := "  " + string(e.Line)
		if width > 4 && len(line) > width {
			line = line[:width-1] + "…"
		}
		_, err := fmt.Fprintln(out, line)
		return err
	})
	return err
}

// logSize returns the size of the pdu logs.
func (d *demo) logSize() string {
	var octets int64
	files, _ := filepath.Glob(filepath.Join(d.logs(), "*"))
	for _, name := range files {
		if st, err := os.Stat(name); err == nil {
			octets += st.Size()
		}
	}
	return fmt.Sprintf("%.1f MB", float64(octets)/1e6)
}

// clients returns a number of clients in words.
func clients(n int) string {
	if n == 1 {
		return "1 client"
	}
	return figuretext.Number(int64(n)) + " clients"
}
