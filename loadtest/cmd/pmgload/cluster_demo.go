package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pmg/internal/console"
	"pmg/internal/figuretext"
	"pmg/loadtest"
	"pmg/loadtest/child"
)

func newClusterDemoCommand() *cobra.Command {
	d := &clusterDemo{}
	cmd := &cobra.Command{
		Use:   "cluster-demo",
		Short: "See a cluster work: three gateways, whose owner is killed under load",
		Long: `Starts three servers of NATS and three nodes of a cluster, as processes on loopback, and clients and
an SMSC in this process. The clients send messages all the time and ask for receipts. Then the owner of
the work is killed (kill -9), another node takes over, and the work is moved to the third one. It says
which node works after how many seconds, and counts what was accepted and what has arrived. It takes
about a minute, and leaves no files behind.

The exit status is 1 when an accepted message or its receipt is missing.`,
		Example: "  pmgload cluster-demo --nats-server bin/nats-server-v2.15.2/nats-server",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := console.Interruptible(cmd.Context())
			defer stop()
			d.out = cmd.OutOrStdout()
			return d.run(ctx)
		},
	}
	f := cmd.Flags()
	f.StringVar(&d.pmg, "pmg", "", "the `program` pmg (default: the one in the directory of pmgload, or else in $PATH)")
	f.StringVar(&d.nats, "nats-server", "", "the `program` nats-server, 2.15.1 or later (default: the one in $PATH)")
	f.Float64Var(&d.rate, "rate", 300, "messages that the clients send in a second")
	f.DurationVar(&d.lease, "lease", 10*time.Second, "cluster.lease of the nodes; cluster.dead is a fifth longer")
	f.DurationVar(&d.pause, "pause", 8*time.Second, "time between the changes")
	return cmd
}

// A clusterDemo is a running demonstration of a cluster.
type clusterDemo struct {
	out          io.Writer
	pmg, nats    string // programs
	rate         float64
	lease, pause time.Duration

	dir     string
	sink    *loadtest.Sink
	servers []*child.Child // of NATS
	nodes   []*demoNode
	relay   *demoRelay // where the clients connect: it leads to the owner
	load    *loadtest.LoadResult
}

const demoClients = 8

func (d *clusterDemo) say(format string, args ...any) { fmt.Fprintf(d.out, format+"\n", args...) }

func (d *clusterDemo) run(ctx context.Context) (err error) {
	if d.pmg, err = findPMG(d.pmg); err != nil {
		return err
	}
	if d.nats, err = exec.LookPath(cmp.Or(d.nats, "nats-server")); err != nil {
		return fmt.Errorf("cannot find nats-server: name it with --nats-server, or let make cluster-demo build it: %w", err)
	}
	if d.dir, err = os.MkdirTemp("", "pmg-cluster-demo-"); err != nil {
		return err
	}
	defer os.RemoveAll(d.dir)
	ctx, end := context.WithCancel(ctx)
	defer d.end(end)
	if err := d.start(ctx); err != nil {
		return err
	}
	if err = d.show(ctx); err != nil && ctx.Err() == nil {
		err = d.withLogs(err)
	}
	if err != nil {
		return err
	}
	return d.summary(ctx)
}

// end ends everything that was started.
func (d *clusterDemo) end(end context.CancelFunc) {
	end()
	for _, n := range d.nodes {
		<-n.over
	}
	for _, s := range d.servers {
		s.Stop()
	}
	if d.relay != nil {
		d.relay.close()
	}
	if d.sink != nil {
		_ = d.sink.Close()
	}
}

// start starts everything but the load.
func (d *clusterDemo) start(ctx context.Context) (err error) {
	d.sink, err = loadtest.StartSink(loadtest.SinkOptions{
		Listen: "127.0.0.1:0", Receipts: true, Receipt: loadtest.ReceiptOptions{DelayMax: 2 * time.Second},
	})
	if err != nil {
		return err
	}
	if d.relay, err = startDemoRelay(); err != nil {
		return err
	}
	servers, err := d.startServers(ctx)
	if err != nil {
		return err
	}
	d.say("three servers of NATS:  %s", strings.Join(servers, " "))
	for _, name := range []string{"a", "b", "c"} {
		n := &demoNode{name: name, program: d.pmg, file: filepath.Join(d.dir, name+".yaml"), over: make(chan struct{})}
		for _, address := range []*string{&n.clients, &n.admin} {
			if *address, err = freeAddress(); err != nil {
				return err
			}
		}
		text := fmt.Sprintf(clusterDemoConfig, filepath.Join(d.dir, name), n.admin, name, strings.Join(servers, `", "`),
			d.lease, d.lease+d.lease/5, n.clients, d.sink.Addr())
		if err := os.WriteFile(n.file, []byte(text), 0o600); err != nil {
			return err
		}
		d.nodes = append(d.nodes, n)
		d.say("node %s:                 clients at %s, started again whenever it ends", name, n.clients)
		go n.supervise(ctx)
	}
	d.say("SMSC:                   %s\n", d.sink.Addr())
	return nil
}

// show sends the load, and changes the owner twice.
func (d *clusterDemo) show(ctx context.Context) error {
	began := time.Now()
	d.say("the servers elect leaders, and the nodes make the stream of the journal")
	first, err := d.owner(ctx, nil)
	if err != nil {
		return err
	}
	d.say("node %s owns the work after %s", first.name, since(began))
	loading, finish := context.WithCancel(ctx)
	defer finish()
	loaded := make(chan error, 1)
	go func() {
		var err error
		d.load, err = loadtest.Load(loading, d.loadOptions())
		loaded <- err
	}()
	d.say("%d clients send %.0f messages a second, and ask for receipts", demoClients, d.rate)
	err = d.change(ctx, first)
	d.say("\nthe clients stop, and wait for what is under way")
	finish()
	return errors.Join(err, <-loaded)
}

func (d *clusterDemo) loadOptions() loadtest.LoadOptions {
	o := loadtest.DefaultLoadOptions()
	o.To, o.Connections, o.Rate, o.Duration, o.Messages = d.relay.address(), demoClients, d.rate, time.Hour, 0
	o.Receipts, o.Reconnect, o.Timeout = true, 50*time.Millisecond, time.Minute
	return o
}

// change kills the owner, and moves the work on from the next one.
func (d *clusterDemo) change(ctx context.Context, first *demoNode) error {
	if err := d.wait(ctx); err != nil {
		return err
	}
	d.say("\nkill -9 of node %s; %s messages have arrived so far", first.name, figuretext.Number(d.sink.Result().Unique))
	began, killed := time.Now(), first.kill()
	second, err := d.owner(ctx, killed)
	if err != nil {
		return err
	}
	d.say("node %s works after %s; node %s is started again, and follows", second.name, since(began), first.name)
	if err := d.wait(ctx); err != nil {
		return err
	}
	third := d.nodes[0]
	for _, n := range d.nodes {
		if n != first && n != second {
			third = n
		}
	}
	d.say("\npmg cluster move %s", third.name)
	began, before := time.Now(), second.child.Load()
	out, err := exec.CommandContext(ctx, d.pmg, "cluster", "move", third.name, "-c", third.file).CombinedOutput()
	if err != nil {
		return fmt.Errorf("cannot move the work: %w: %s", err, out)
	}
	if third, err = d.owner(ctx, before); err != nil {
		return err
	}
	d.say("node %s works after %s", third.name, since(began))
	return d.wait(ctx)
}

func since(t time.Time) string { return time.Since(t).Round(100 * time.Millisecond).String() }

// wait waits while the clients send.
func (d *clusterDemo) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d.pause):
		return nil
	}
}

// summary prints the counts, and returns an error if something is missing.
func (d *clusterDemo) summary(ctx context.Context) error {
	load := d.load
	ctx, cancel := context.WithTimeout(ctx, demoTimeout)
	defer cancel()
	_ = d.sink.Await(ctx, load.Accepted) // what is missing is reported
	c := loadtest.Compare(load, d.sink.Result())
	var problems []string
	if n := c.Missing + load.ReceiptsMissing; n > 0 {
		problems = append(problems, fmt.Sprintf("%d messages or receipts are missing", n))
	}
	mark, number := "✓", figuretext.Number
	if problems != nil {
		mark = "✗"
	}
	d.say("\n%s accepted     %s", mark, number(c.Answered))
	d.say("  delivered    %s", number(c.Delivered))
	d.say("  twice        %s, which were under way when the owner was killed; clients had no answer to %s, and sent them again",
		number(c.Doubled), number(load.SentAgain))
	d.say("  missing      %s", number(c.Missing))
	d.say("  receipts     %s, %s missing", number(load.Receipts), number(load.ReceiptsMissing))
	return console.ProblemsError(problems)
}

// withLogs adds the ends of the nodes' logs to an error.
func (d *clusterDemo) withLogs(err error) error {
	for _, n := range d.nodes {
		if c := n.child.Load(); c != nil {
			log := c.Log()
			err = fmt.Errorf("%w\n\nThe log of node %s:\n%s", err, n.name, log[max(0, len(log)-2000):])
		}
	}
	return err
}
