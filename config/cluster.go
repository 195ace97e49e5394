package config

import (
	"bytes"
	"cmp"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"pmg/cluster/lease"
	"pmg/config/managed"
	"pmg/config/option"
)

// Cluster is the options of a gateway that is one node of several.
type Cluster struct {
	Node    string   `yaml:"node" live:"no" doc:"Name of this node, which no other has. Empty: the gateway is alone. docs/cluster.md says what is needed."`
	Servers []string `yaml:"servers" live:"no" doc:"URLs of the servers of NATS, such as nats://10.0.0.1:4222, at least three."`

	Secret    string `yaml:"secret" secret:"yes" live:"no" doc:"The text from which the key of the journal's records is made, the same on all nodes; password when empty. Records that are not encrypted with it are ignored."`
	OldSecret string `yaml:"old_secret" secret:"yes" live:"no" doc:"A second secret, whose records are read as well, while the secret of the nodes is changed (docs/cluster.md)."`

	User              string `yaml:"user" live:"no" doc:"User of the account of NATS that has the stream, unless credentials are given."`
	Password          string `yaml:"password" secret:"yes" live:"no" doc:"The password of user."`
	Credentials       string `yaml:"credentials" live:"no" doc:"File with the credentials of that account, as nsc makes it."`
	SystemUser        string `yaml:"system_user" live:"no" doc:"User of the system account of NATS, which alone may read whether the servers sync each write."`
	SystemPassword    string `yaml:"system_password" secret:"yes" live:"no" doc:"The password of system_user."`
	SystemCredentials string `yaml:"system_credentials" live:"no" doc:"File with the credentials of the system account."`
	CA                string `yaml:"ca" live:"no" doc:"File with the authorities that may have issued the servers' certificates, for URLs that begin with tls://."`
	Certificate       string `yaml:"certificate" live:"no" doc:"File with this node's certificate for the servers (PEM), if they ask for one."`
	Key               string `yaml:"key" live:"no" doc:"File with its private key."`

	Stream        string        `yaml:"stream" default:"PMG" live:"no" doc:"Name of the stream with the journal. It is made when missing, and the bucket STREAM_CELLS as well."`
	Replicas      int           `yaml:"replicas" default:"3" range:"1..5" live:"no" doc:"On how many servers the stream is, where it is made here. Less than 3 needs unsafe."`
	MaxSize       option.Size   `yaml:"max_size" default:"0B" range:"0B.." live:"no" doc:"The most that the stream may take, where it is made here; when full no message is accepted. Less than the disks of NATS hold, so that the owner goes on. 0B is no limit."`
	Keep          time.Duration `yaml:"keep" default:"1h" range:"0s.." live:"no" doc:"How long the stream keeps what no node needs. A node away for longer needs a copy of another's store (docs/cluster.md)."`
	Lease         time.Duration `yaml:"lease" default:"10s" range:"100ms..1h" live:"no" doc:"How long the owner works after the last acknowledged heartbeat: longer than the servers need for an election (up to 9 s)."`
	Dead          time.Duration `yaml:"dead" default:"12s" range:"100ms..1h" live:"no" doc:"How long no heartbeat of the owner is seen before another node takes over: at least a tenth longer than lease, the same on all nodes."`
	Beat          time.Duration `yaml:"beat" default:"500ms" range:"10ms..1m" live:"no" doc:"The time between two heartbeats."`
	HandOverAfter time.Duration `yaml:"hand_over_after" default:"0s" range:"0s..24h" live:"no" doc:"How long the owner must have no session with an SMSC before it hands the work over to a node that can connect to more SMSCs than the owner, at most once in ten minutes; the same on all nodes. 0s: it does not."`
	Unsafe        bool          `yaml:"unsafe" default:"false" live:"no" doc:"Whether servers and a stream may lose what was appended: fewer than three, old ones, or without sync_interval: always. For tests."`
}

// Secrets returns the secrets of the journal's records. The first is for new records.
func (c *Cluster) Secrets() []string {
	all := []string{cmp.Or(c.Secret, c.Password)}
	if c.OldSecret != "" {
		all = append(all, c.OldSecret)
	}
	return all
}

// LeaseOptions returns the times of the lease.
func (c *Cluster) LeaseOptions() lease.Options {
	return lease.Options{Node: c.Node, Lease: c.Lease, Dead: c.Dead, Beat: c.Beat}
}

// checkCluster checks that the options of the cluster fit together.
func checkCluster(d *decoder, c *Config) {
	o := &c.Cluster
	if o.Node == "" {
		if len(o.Servers) > 0 {
			d.problem("cluster.node", "must not be missing: give this node a name that no other has")
		}
		return
	}
	if err := o.LeaseOptions().Check(); err != nil {
		d.problem("cluster", "cannot be used: %s", err)
	}
	if len(o.Servers) == 0 {
		d.problem("cluster.servers", "must not be missing: name the servers of NATS, such as [\"nats://10.0.0.1:4222\"]")
	}
	if c.Store.Engine == MemoryStore {
		d.problem(
			"cluster.node",
			"must not be given with store.engine: memory, because the other nodes have what is on the disk: remove one of them",
		)
	}
	if o.SystemUser == "" && o.SystemCredentials == "" && !o.Unsafe {
		d.problem(
			"cluster.system_user",
			"must not be missing, nor system_credentials, because without the system account of NATS it is not known whether "+
				"the servers sync each write: give one of them, or unsafe: true for a test",
		)
	}
	if o.Secrets()[0] == "" && !o.Unsafe {
		d.problem("cluster.secret", "must not be missing where no password is given: give all nodes the same long random text")
	}
	if (o.Certificate == "") != (o.Key == "") {
		d.problem("cluster.key", "must be given together with certificate")
	}
	for _, f := range []struct{ option, file string }{
		{"credentials", o.Credentials}, {"system_credentials", o.SystemCredentials}, {"ca", o.CA}, {"certificate", o.Certificate},
		{"key", o.Key},
	} {
		if _, err := os.Stat(f.file); f.file != "" && err != nil {
			d.problem("cluster."+f.option, "must name a file that can be read: %s", err)
		}
	}
}

// those returns copies of the elements for which is returns true, nil if there are none.
func those[T any](all []T, is func(*T) bool) (some []T) {
	for i := range all {
		if is(&all[i]) {
			some = append(some, all[i])
		}
	}
	return some
}

// leaveOutManaged removes from a copy of the configuration what managed files define.
func (c *Config) leaveOutManaged(of *Config) {
	if c.Managed.Dir == "" {
		return
	}
	of.Managed.Dir = "." // all nodes have one, or none
	of.Accounts = those(c.Accounts, func(a *Account) bool { return c.Defined(managed.Accounts, a.SystemID) != "" })
	of.Lists = those(c.Lists, func(l *List) bool { return c.Defined(managed.Lists, l.Name) != "" })
	of.Prices = those(c.Prices, func(p *Prices) bool { return c.Defined(managed.Prices, p.Name) != "" })
	of.Routes = nil
	for i, r := range c.Routes {
		if c.found.routes[i] > 0 {
			of.Routes = append(of.Routes, r)
		}
	}
}

// Common returns a hash of the options that all nodes of a cluster must share: all options except those of
// the machine, which are its directories and files, limits, logs, operators and the addresses that it listens on, and how it
// reaches the servers; and except those of managed files, which a node that takes over has from the store. If messages in the
// store are encrypted, a hash of the keys follows, behind a "-".
func (c *Config) Common() (string, error) {
	common := *c
	common.User, common.Log, common.PDULog, common.Events = "", Log{}, PDULog{}, Events{}
	common.Stats, common.Telemetry, common.Store, common.Admin = Stats{}, Telemetry{}, Store{}, Admin{}
	common.Limits, common.Cluster = Limits{}, Cluster{Lease: c.Cluster.Lease, Dead: c.Cluster.Dead, Beat: c.Cluster.Beat}
	common.Lists, common.Prices = slices.Clone(c.Lists), slices.Clone(c.Prices)
	c.leaveOutManaged(&common)
	for i := range common.Lists {
		common.Lists[i].File = ""
	}
	for i := range common.Prices {
		common.Prices[i].File = ""
	}
	common.Networks.File = ""
	common.Connectors = slices.Clone(c.Connectors)
	for i := range common.Connectors {
		if o := &common.Connectors[i]; o.Listens() {
			o.Address, o.Addresses, o.Listen = "", nil, ""
		}
	}
	octets, err := json.Marshal(&common)
	if err != nil {
		return "", fmt.Errorf("cannot compare configurations: %w", err)
	}
	key, err := hkdf.Key(sha256.New, []byte(c.Cluster.Secrets()[0]), nil, "pmg configuration of a cluster", sha256.Size)
	if err != nil {
		return "", fmt.Errorf("cannot make the key of the configuration's hash: %w", err)
	}
	hash := func(octets []byte, n int) string {
		sum := hmac.New(sha256.New, key) // without the key, who reads the hash from the servers could test passwords with it
		_, _ = sum.Write(octets)         // a hash never returns an error
		return hex.EncodeToString(sum.Sum(nil)[:n])
	}
	all := hash(octets, 8)
	if keys := c.Store.Keys(); len(keys) > 0 {
		all += "-" + hash(append([]byte("store.key_file"), bytes.Join(keys, nil)...), 4)
	}
	return all, nil
}
