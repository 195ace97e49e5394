package member

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"pmg/cluster"
	"pmg/cmd/pmg/ask"
	"pmg/config"
	"pmg/gateway/keep"
	"pmg/internal/sock"
	"pmg/store"
)

// optionsOf returns how this node takes part.
func optionsOf(cfg *config.Config, log zerolog.Logger, failed func(error)) (o cluster.Options, err error) {
	c := &cfg.Cluster
	hash, err := cfg.Common()
	if err != nil {
		return o, err
	}
	dir, err := filepath.Abs(cfg.Store.Dir)
	if err != nil {
		return o, fmt.Errorf("cannot find store.dir: %w", err)
	}
	o = cluster.Options{
		Node: c.Node, Servers: strings.Join(c.Servers, ","), Secrets: c.Secrets(), Stream: c.Stream,
		Replicas: c.Replicas, MaxOctets: int64(c.MaxSize), Unsafe: c.Unsafe, Lease: c.LeaseOptions(),
		Keep: c.Keep, Dir: dir, Config: hash, SMSCs: smscsOf(cfg), HandOverAfter: c.HandOverAfter, Log: log,
		Store: store.Options{
			Log: log, Ballast: int64(cfg.Store.Ballast), MaxFiles: keep.StoreFiles(sock.DescriptorLimit()), Fatal: failed,
			Keys: cfg.Store.Keys(),
		},
	}
	o.Connect, o.System = natsLogins(c)
	return o, nil
}

// smscsOf returns the SMSCs to which the gateway connects for sessions.
func smscsOf(cfg *config.Config) (all []cluster.SMSC) {
	for i := range cfg.Connectors {
		if c := &cfg.Connectors[i]; c.Dials() {
			all = append(all, cluster.SMSC{Name: c.Name, Addresses: c.AllAddresses()})
		}
	}
	return all
}

// loaded returns how the node of a configuration file takes part, for a command that is no gateway.
func loaded(cmd *cobra.Command, load ask.Load, file string) (o cluster.Options, err error) {
	cfg, err := load(cmd.ErrOrStderr(), file)
	if err != nil {
		return o, err
	}
	if cfg.Cluster.Node == "" {
		return o, fmt.Errorf("%s has no cluster.node: this gateway is alone (pmg cluster setup writes that section)", file)
	}
	return optionsOf(cfg, zerolog.Nop(), nil)
}

// natsLogins returns how a node logs in to NATS, as the account that has the stream and as the system account.
func natsLogins(c *config.Cluster) (connect, system []nats.Option) {
	var both []nats.Option
	if c.CA != "" {
		both = append(both, nats.RootCAs(c.CA))
	}
	if c.Certificate != "" {
		both = append(both, nats.ClientCert(c.Certificate, c.Key))
	}
	login := func(user, password, credentials string) []nats.Option {
		all := append(both[:len(both):len(both)], nats.Name("pmg "+c.Node))
		switch {
		case credentials != "":
			all = append(all, nats.UserCredentials(credentials))
		case user != "":
			all = append(all, nats.UserInfo(user, password))
		}
		return all
	}
	connect = login(c.User, c.Password, c.Credentials)
	if c.SystemUser != "" || c.SystemCredentials != "" {
		system = login(c.SystemUser, c.SystemPassword, c.SystemCredentials)
	}
	return connect, system
}
