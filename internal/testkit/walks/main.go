// Command walks sends messages through a gateway in this process, and writes for each the functions that it has executed: it
// is built with counters of coverage (go build -cover -covermode=atomic), which it clears before each message. walks_test.go
// compares them with the lists in testdata.
//
// # Start reading
//
// walks, then walk.run.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/coverage"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pmg/config"
	"pmg/gateway"
	"pmg/httpapi"
	"pmg/internal/testkit/smpppeer"
	"pmg/protocols"
	"pmg/protocols/httpsms"
	"pmg/protocols/smpp"
	"pmg/stages"
	"pmg/store"
)

// rounds is the number of messages in each walk. The first is not compared.
const rounds = 6

// patience is the time limit of a step.
const patience = time.Minute

const yaml = `
pdulog: {dir: %[1]q}
events: {dir: "%[1]s/events"}
%[2]s
accounts:
  - {system_id: load, password: secret, webhook: %[3]q, webhook_key: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw%[4]s}
connectors:
  - {name: clients, direction: in, address: "127.0.0.1:0"}
  - {name: api, direction: in, protocol: http, address: "127.0.0.1:0"}
  - {name: operator, direction: out, address: %[5]q, system_id: pmg, password: secret}
routes: [{to: operator}]
`

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: walks WALK DIRECTORY")
		os.Exit(2)
	}
	if err := walk(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A node is a gateway between its peers.
type node struct {
	gateway *gateway.Gateway
	engine  gateway.Engine
	hooked  *atomic.Int64 // calls of the webhook
	due     chan struct{} // a value releases the next receipt of the SMSC
	out     string        // directory of the counters
}

// walk sends the messages of a walk, and writes the counters of message i into out/i.
func walk(name, out string) (err error) {
	dir, err := os.MkdirTemp("", "pmg-walks-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	n := &node{hooked: new(atomic.Int64), due: make(chan struct{}), out: out}
	called := func(http.ResponseWriter, *http.Request) { n.hooked.Add(1) }
	hook := &http.Server{Addr: "127.0.0.1:0", Handler: http.HandlerFunc(called)}
	address, err := serve(hook)
	if err != nil {
		return err
	}
	defer hook.Close()
	smsc, err := smpppeer.Start("secret", true, n.due)
	if err != nil {
		return err
	}
	defer smsc.Close()
	top, account := "", ""
	if name == "end" {
		prices := filepath.Join(dir, "prices.csv")
		if err := os.WriteFile(prices, []byte("*,0.01\n"), 0o600); err != nil {
			return err
		}
		top = fmt.Sprintf("stats: {dir: %q}\nprices: [{name: p, currency: EUR, file: %q}]", dir+"/stats", prices)
		account = ", prices: p, balance: {}"
	}
	if err := n.start(dir, fmt.Sprintf(yaml, dir, top, "http://"+address+"/", account, smsc.Addr())); err != nil {
		return err
	}
	if name == "receipt" {
		return errors.Join(n.receipts(), n.stop())
	}
	return errors.Join(n.submits(), n.stop())
}

// serve serves on a free port, and returns the address.
func serve(s *http.Server) (string, error) {
	l, err := net.Listen("tcp", s.Addr)
	if err != nil {
		return "", err
	}
	go func() { _ = s.Serve(l) }()
	return l.Addr().String(), nil
}

// start starts the gateway, with its store on disk in a directory.
func (n *node) start(dir, text string) error {
	cfg, _, err := config.Parse([]byte(text), config.Options{Protocols: []string{"smpp", "http"}})
	if err != nil {
		return err
	}
	if n.gateway, err = gateway.New(cfg, zerolog.New(io.Discard), newDriver); err != nil {
		return err
	}
	s, err := store.Open(dir+"/store", store.Options{Log: zerolog.Nop(), Fatal: n.gateway.Keeper.StoreFailed})
	if err != nil {
		return err
	}
	if err := n.gateway.Keep(s); err != nil {
		return err
	}
	pipeline, err := stages.Start(n.gateway)
	if err != nil {
		return err
	}
	if n.engine, err = httpapi.Over(pipeline, n.gateway, httpapi.Options{}); err != nil {
		return err
	}
	n.gateway.Recover(context.Background(), n.engine)
	return await("a session with the SMSC", func() bool { return n.gateway.Table.Connector("operator").Online() > 0 })
}

func newDriver(protocol string, c *config.Config) (protocols.Driver, error) {
	if protocol == "http" {
		return httpsms.New(), nil
	}
	return smpp.New(smpp.Options{MaxPDU: int(c.Limits.MaxPDU)}), nil
}

func (n *node) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	n.engine.Drain(ctx)
	return errors.Join(n.engine.Close(), n.gateway.Close())
}

func (n *node) address(connector string) string {
	return n.engine.Addresses(n.gateway.Table.Connector(connector))[0].String()
}

// submits submits messages in a session: each is stored, answered and sent to the SMSC, and its end is recorded.
func (n *node) submits() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	look := func(i int) {
		if i > 0 {
			err = errors.Join(err, n.settled(int64(i)), n.write(i-1))
		}
		err = errors.Join(err, coverage.ClearCounters())
	}
	c := smpppeer.Client{Addr: n.address("clients"), SystemID: "load", Password: "secret", Before: look}
	if serr := c.Send(ctx, rounds+1); serr != nil { // one more message, which is not compared
		return serr
	}
	return err
}

// receipts delivers receipts of the SMSC to the webhook of an HTTP client.
func (n *node) receipts() error {
	for i := range rounds {
		r, err := http.NewRequest(http.MethodPost, "http://"+n.address("api")+"/v1/messages", strings.NewReader(
			`{"from": "1234", "to": "+46700000001", "text": "hello", "receipt": "all"}`))
		if err != nil {
			return err
		}
		r.SetBasicAuth("load", "secret")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusAccepted {
			return errors.New(answer.Status)
		}
		if err := n.settled(int64(i + 1)); err != nil {
			return err
		}
		if err := coverage.ClearCounters(); err != nil {
			return err
		}
		before := n.hooked.Load()
		n.due <- struct{}{}
		if err := await("the webhook is called", func() bool { return n.hooked.Load() > before }); err != nil {
			return err
		}
		if err := errors.Join(n.settled(int64(i+1)), n.write(i)); err != nil {
			return err
		}
	}
	return nil
}

// settled waits until a number of messages were sent, and none is under way.
func (n *node) settled(sent int64) error {
	err := await("messages are sent", func() bool {
		return n.gateway.Table.Connector("operator").Stats.Sent.Load() >= sent && n.gateway.Pending() == 0
	})
	time.Sleep(100 * time.Millisecond) // for logs, counts and commits after the answer
	return err
}

// write writes the counters of message i.
func (n *node) write(i int) error {
	dir := filepath.Join(n.out, strconv.Itoa(i))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return errors.Join(coverage.WriteMetaDir(dir), coverage.WriteCountersDir(dir))
}

func await(what string, ok func() bool) error {
	for end := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("waited in vain until %s", what)
		}
	}
	return nil
}
