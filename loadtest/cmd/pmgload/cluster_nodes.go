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
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pmg/loadtest/child"
)

// clusterDemoConfig is a node's: its directory, the address of its admin, its name, the servers, lease and dead, the addresses of
// its clients and of the SMSC.
const clusterDemoConfig = `
log: {format: json}
store: {dir: %q, ballast: 0B, min_free: 1MiB}
pdulog: {enabled: false}
admin: {address: %q, socket: "off"}
cluster: {node: %s, servers: ["%s"], user: pmg, password: pmg, system_user: system, system_password: system, lease: %s, dead: %s}
accounts: [{system_id: load, password: secret}]
connectors:
  - {name: clients,  direction: in,  address: %q, window: 100}
  - {name: operator, direction: out, address: %q, instances: 2, window: 10, system_id: pmg, password: secret, reconnect_delay: 20ms}
routes: [{to: operator}]
`

// clusterServerConfig is a server's of NATS: its name, its address, its directory, its address for the others, and all of those.
const clusterServerConfig = `
server_name: %s
listen: %q
jetstream { store_dir: %q, sync_interval: always }
cluster { name: demo, listen: %q, routes: ["%s"] }
accounts {
  SYS: { users: [ { user: system, password: system } ] }
  PMG: { jetstream: enabled, users: [ { user: pmg, password: pmg } ] }
}
system_account: SYS
`

// startServers starts the servers of NATS, and returns their URLs.
func (d *clusterDemo) startServers(ctx context.Context) (urls []string, err error) {
	var addresses, routes []string
	for range 6 {
		a, err := freeAddress()
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, a)
	}
	for _, a := range addresses[3:] {
		routes = append(routes, "nats://"+a)
	}
	for i, a := range addresses[:3] {
		name := fmt.Sprintf("n%d", i+1)
		file := filepath.Join(d.dir, name+".conf")
		text := fmt.Sprintf(clusterServerConfig, name, a, filepath.Join(d.dir, name), addresses[3+i], strings.Join(routes, `", "`))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, err
		}
		c, err := child.Start(ctx, []string{d.nats, "-c", file}, func(string) ([]string, error) { return nil, nil })
		if err != nil {
			return nil, err
		}
		d.servers = append(d.servers, c)
		urls = append(urls, "nats://"+a)
	}
	return urls, nil
}

// A demoNode is a node of the cluster.
type demoNode struct {
	name, program, file string
	clients, admin      string // addresses
	child               atomic.Pointer[child.Child]
	over                chan struct{} // closed when it is not started again any more
}

// supervise starts the node whenever it has ended, until ctx ends.
func (n *demoNode) supervise(ctx context.Context) {
	defer close(n.over)
	for ctx.Err() == nil {
		c, err := child.Start(ctx, []string{n.program, "serve", "-c", n.file}, func(string) ([]string, error) { return nil, nil })
		if err != nil {
			return // what waits for it says that no node works
		}
		before := n.child.Swap(c)
		if before != nil {
			before.Stop()
		}
		<-c.Ended()
	}
	if c := n.child.Load(); c != nil {
		c.Stop()
	}
}

// kill kills the process of the node, as kill -9 does, and returns it.
func (n *demoNode) kill() *child.Child {
	c := n.child.Load()
	_ = c.Cmd.Process.Kill() // it may have ended
	<-c.Ended()
	return c
}

// owns reports whether the node's gateway works, in another process than not.
func (n *demoNode) owns(not *child.Child) bool {
	if c := n.child.Load(); c == nil || c == not {
		return false
	}
	client := http.Client{Timeout: time.Second}
	r, err := client.Get("http://" + n.admin + "/readyz?of=node")
	if err != nil {
		return false
	}
	_ = r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// owner waits until a node works, in another process than not, and leads the clients there.
func (d *clusterDemo) owner(ctx context.Context, not *child.Child) (*demoNode, error) {
	d.relay.to.Store(nil)
	for end := time.Now().Add(d.lease + ownerPatience); ; {
		for _, n := range d.nodes {
			if n.owns(not) {
				d.relay.to.Store(&n.clients)
				return n, nil
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case time.Now().After(end):
			return nil, errors.New("no node works")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// ownerPatience is how long the demo waits for an owner, beyond the lease of the one before.
const ownerPatience = time.Minute

// A demoRelay is a balancer: it connects each client with the owner.
type demoRelay struct {
	listener net.Listener
	to       atomic.Pointer[string] // nil: no node works
	serving  sync.WaitGroup
}

func startDemoRelay() (*demoRelay, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &demoRelay{listener: l}
	r.serving.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			r.serving.Go(func() { r.serve(client) })
		}
	})
	return r, nil
}

func (r *demoRelay) address() string { return r.listener.Addr().String() }

// serve passes on what a client and the owner send, until one of them ends.
func (r *demoRelay) serve(client net.Conn) {
	defer client.Close()
	to := r.to.Load()
	if to == nil {
		return
	}
	owner, err := net.Dial("tcp", *to)
	if err != nil {
		return
	}
	defer owner.Close()
	r.serving.Go(func() {
		_, _ = io.Copy(owner, client) // an error ends the session, as the end does
		_ = owner.Close()
	})
	_, _ = io.Copy(client, owner)
}

// close ends the relay. All its clients have ended.
func (r *demoRelay) close() {
	_ = r.listener.Close()
	r.serving.Wait()
}

// freeAddress returns an address on loopback at which nothing listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
