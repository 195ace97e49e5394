package member

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/ask"
	"pmg/internal/tlsfiles"
	"pmg/internal/token"
)

//go:embed setup
var setupFiles embed.FS

// A machine is one on which a node and a server of NATS run.
type machine struct{ Name, Address string }

// A plan is what the files of a cluster say.
type plan struct {
	Nodes     []machine
	Node      machine // the one that a file is for
	Ports     []uint16
	Shared    string // address that the machines share
	Interface string

	Password, System, Routes, Secret, TokenHash string
}

// certificatesLast is the lifetime of the certificates of a cluster. It is long, because the cluster stops when they expire, and
// nobody but its own machines uses them.
const certificatesLast = 10 * 365 * 24 * time.Hour

func setupCommand() *cobra.Command {
	var nodes []string
	p := plan{}
	var ports []uint
	cmd := &cobra.Command{
		Use:   "setup DIRECTORY",
		Short: "Write the configurations, certificates and passwords of a new cluster",
		Long: `Makes a directory with everything that the machines of a cluster need to find and to trust each
other: for each node the configuration of its server of NATS, with certificates of an own
authority and passwords that are made here, and its part of pmg.yaml; for clients those of
HAProxy, or with --shared those of keepalived. It prints what to copy where, and changes
nothing else.

The authority's own key is not kept: for other nodes or addresses make the directory again. The
certificates last ten years.`,
		Example: "  pmg cluster setup sms --nodes a=10.0.0.1,b=10.0.0.2,c=10.0.0.3\n" +
			"  pmg cluster setup sms --nodes a=10.0.0.1,b=10.0.0.2,c=10.0.0.3 --shared 10.0.0.100",
		Args: ask.Exactly(1, "the directory to make"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if p.Nodes, err = machines(nodes); err != nil {
				return err
			}
			if _, err := netip.ParseAddr(p.Shared); p.Shared != "" && err != nil {
				return fmt.Errorf("--shared %s is no address", p.Shared)
			}
			for _, n := range ports {
				if n == 0 || n > 65535 {
					return fmt.Errorf("--ports %d is no port", n)
				}
				p.Ports = append(p.Ports, uint16(n))
			}
			made, err := p.write(args[0])
			if err != nil {
				return fmt.Errorf("cannot write the files of the cluster: %w", err)
			}
			_, err = cmd.OutOrStdout().Write(made)
			return err
		},
	}
	cmd.Flags().StringSliceVar(&nodes, "nodes", nil, "the `NAME=ADDRESS` of each node, separated by commas; three or five")
	cmd.Flags().UintSliceVar(&ports, "ports", []uint{2775, 8080}, "the ports on which the connectors listen for clients")
	cmd.Flags().StringVar(&p.Shared, "shared", "", "an `address` that keepalived gives to the machine of the owner")
	cmd.Flags().StringVar(&p.Interface, "interface", "eth0", "the network interface that gets the address of --shared")
	return cmd
}

// nodeName matches the names of nodes, which are also those of directories and stand in files without quotes.
var nodeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,29}$`)

// machines decodes the flag --nodes.
func machines(nodes []string) (all []machine, err error) {
	if len(nodes) != 3 && len(nodes) != 5 {
		return nil, fmt.Errorf("--nodes has %d nodes: give three or five, such as a=10.0.0.1,b=10.0.0.2,c=10.0.0.3", len(nodes))
	}
	for _, n := range nodes {
		name, address, _ := strings.Cut(n, "=")
		if !nodeName.MatchString(name) {
			return nil, fmt.Errorf("--nodes %s: give the node a short name of letters and digits", n)
		}
		if a, err := netip.ParseAddr(address); err != nil || !a.Is4() {
			return nil, fmt.Errorf("--nodes %s: give the node's address behind the =, such as 10.0.0.1", n)
		}
		if slices.ContainsFunc(all, func(m machine) bool { return m.Name == name || m.Address == address }) {
			return nil, fmt.Errorf("--nodes %s: another node has this name or this address", n)
		}
		all = append(all, machine{name, address})
	}
	return all, nil
}

// write writes the files, and returns what to do with them.
func (p *plan) write(dir string) (todo []byte, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	operator := token.New()
	p.TokenHash = token.Hash(operator)
	for _, s := range []*string{&p.Password, &p.System, &p.Routes, &p.Secret} {
		*s = token.New()
	}
	a, err := tlsfiles.NewAuthority("pmg cluster setup", certificatesLast)
	if err != nil {
		return nil, err
	}
	for _, p.Node = range p.Nodes {
		if err := p.writeNode(a, filepath.Join(dir, p.Node.Name)); err != nil {
			return nil, err
		}
	}
	err = errors.Join(
		a.Write(filepath.Join(dir, "ca.pem")), p.writeFile("haproxy.cfg", filepath.Join(dir, "haproxy.cfg")),
		os.WriteFile(filepath.Join(dir, "admin.token"), []byte(operator+"\n"), 0o600),
	)
	return p.todo(dir), err
}

// writeNode writes the files of one machine: those below nats are for the server of NATS, those below pmg for the gateway.
func (p *plan) writeNode(a *tlsfiles.Authority, dir string) error {
	for sub, config := range map[string]string{"nats": "nats-server.conf", "pmg": "cluster.yaml"} {
		at := filepath.Join(dir, sub)
		err := os.MkdirAll(at, 0o700)
		certificate, key := filepath.Join(at, "node.pem"), filepath.Join(at, "node-key.pem")
		if err == nil {
			err = errors.Join(
				a.Write(filepath.Join(at, "ca.pem")), p.writeFile(config, filepath.Join(at, config)),
				a.Issue(certificate, key, certificatesLast, p.Node.Name, p.Node.Address),
			)
		}
		if err != nil {
			return err
		}
	}
	if p.Shared == "" {
		return nil
	}
	return p.writeFile("keepalived.conf", filepath.Join(dir, "keepalived.conf"))
}

func (p *plan) writeFile(name, to string) error {
	t, err := template.ParseFS(setupFiles, "setup/"+name+".tmpl")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return err
	}
	return os.WriteFile(to, b.Bytes(), 0o600)
}

// todo returns what to do with the files, as text.
func (p *plan) todo(dir string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Made in %s, with passwords and certificates of its own: copy it as you would copy a password.\n", dir)
	for _, n := range p.Nodes {
		fmt.Fprintf(&b, `
Machine %s of node %s:
  %-26s to /etc/nats          for the user that runs nats-server 2.15.1 or later
  %-26s to /etc/pmg/cluster   for the user pmg
  append cluster.yaml to /etc/pmg/pmg.yaml, in place of its section admin
`, n.Address, n.Name, filepath.Join(dir, n.Name, "nats", "*"), filepath.Join(dir, n.Name, "pmg", "*"))
		if p.Shared != "" {
			file := filepath.Join(dir, n.Name, "keepalived.conf")
			fmt.Fprintf(&b, "  %-26s to /etc/keepalived, beside the package curl\n", file)
		}
	}
	fmt.Fprint(&b, `
On all machines the connectors for clients listen on 0.0.0.0 or on the machine's address, not on 127.0.0.1.
The balancer, unless the machines share an address (--shared):
  haproxy.cfg, ca.pem        to /etc/haproxy

Firewalls: ports 4222 and 6222 are for these machines alone, 2780 for them, the balancer and operators.
admin.token is for commands on other machines (PMG_ADMIN_TOKEN).
Then start nats-server on all machines, and pmg. pmg cluster status shows the owner after some seconds.
docs/cluster.md has the rest.
`)
	return b.Bytes()
}
