package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	minReplicas = 3
	// minVersion is the first release of nats-server whose replicated streams are fast although each
	// append is synced.
	minVersion = "2.15.1"
)

// streamOf returns the journal's stream, and creates it if it does not exist.
func streamOf(ctx context.Context, js jetstream.JetStream, o Options) (jetstream.Stream, error) {
	s, err := js.Stream(ctx, o.Stream)
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return s, err
	}
	c := jetstream.StreamConfig{
		Name: o.Stream, Subjects: []string{o.Stream}, Storage: jetstream.FileStorage, Replicas: o.Replicas,
		Discard: jetstream.DiscardNew, MaxBytes: o.MaxOctets, DenyDelete: true, AllowAtomicPublish: true,
	}
	if o.MaxOctets == 0 {
		c.MaxBytes = -1
	}
	if refused := unsafeStream(&c); !o.Unsafe && len(refused) > 0 {
		return nil, refuse(refused)
	}
	return js.CreateStream(ctx, c)
}

// demand returns an error if the stream or its servers cannot hold a journal. Unless Unsafe is set,
// it also returns an error if they may lose records.
func demand(ctx context.Context, conn *nats.Conn, info *jetstream.StreamInfo, o Options) error {
	refused := unusable(&info.Config)
	if n := conn.MaxPayload(); n < minMessage {
		refused = append(refused, fmt.Sprintf("the server's max_payload is %d, less than %d", n, minMessage))
	}
	if !o.Unsafe {
		refused = append(refused, unsafeStream(&info.Config)...)
		if o.System == nil {
			refused = append(refused, "whether its servers sync each append is not known without the system account")
		}
	}
	if len(refused) == 0 && !o.Unsafe {
		all, err := askAll(ctx, o, info.Cluster)
		if err != nil {
			return err
		}
		refused = unsafeServers(all)
	}
	return refuse(refused)
}

// refuse returns an error with the reasons, or nil if there are no reasons.
func refuse(why []string) error {
	if len(why) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrRefused, strings.Join(why, "; "))
}

// unusable returns the reasons why a stream cannot keep all records in order until they are
// trimmed.
func unusable(c *jetstream.StreamConfig) (all []string) {
	for _, d := range []struct {
		is  bool
		why string
	}{
		{len(c.Subjects) != 1 || c.Subjects[0] != c.Name || c.SubjectTransform != nil, "its subject is not its name"},
		{c.Retention != jetstream.LimitsPolicy, "its retention is not by limits"},
		{c.Discard != jetstream.DiscardNew, "it discards old messages (discard)"},
		{c.MaxAge != 0, "it drops messages by age (max_age)"},
		{c.MaxMsgsPerSubject > 0, "it has a limit for each subject (max_msgs_per_subject)"},
		{c.MaxMsgSize > 0 && c.MaxMsgSize < minMessage, fmt.Sprintf("its max_msg_size is less than %d", minMessage)},
		{!c.AllowAtomicPublish, "it takes no batches (allow_atomic)"},
		{c.AllowDirect, "it may be read from a server that is behind (allow_direct)"},
		{c.NoAck, "it acknowledges nothing (no_ack)"},
		{c.Sealed || c.DenyPurge, "it cannot be trimmed (sealed, deny_purge)"},
		{c.Mirror != nil || len(c.Sources) > 0, "it has the messages of others (mirror, sources)"},
		{c.AllowRollup || c.AllowMsgTTL, "its messages may remove others (allow_rollup_hdrs, allow_msg_ttl)"},
	} {
		if d.is {
			all = append(all, d.why)
		}
	}
	return all
}

// unsafeStream returns the ways in which a stream may lose acknowledged records.
func unsafeStream(c *jetstream.StreamConfig) (all []string) {
	if c.Replicas < minReplicas {
		all = append(all, fmt.Sprintf("it has %d replicas, fewer than %d", c.Replicas, minReplicas))
	}
	if c.Storage != jetstream.FileStorage {
		all = append(all, "it is kept in memory (storage)")
	}
	if c.PersistMode != jetstream.DefaultPersistMode {
		all = append(all, "it is written behind the acknowledgement (persist_mode)")
	}
	return all
}

// A server is the answer of a server about itself.
type server struct {
	Server struct {
		Name    string `json:"name"`
		Version string `json:"ver"`
	} `json:"server"`
	Data struct {
		Storage uint64 `json:"storage"` // octets on its disk
		Config  struct {
			SyncAlways bool  `json:"sync_always"`
			MaxStorage int64 `json:"max_storage"`
		} `json:"config"`
	} `json:"data"`
}

// unsafeServers returns the servers that may lose acknowledged records, with reasons.
func unsafeServers(all []server) (refused []string) {
	for _, s := range all {
		if slices.Compare(version(s.Server.Version), version(minVersion)) < 0 {
			refused = append(refused, fmt.Sprintf("server %s is %s, older than %s", s.Server.Name, s.Server.Version, minVersion))
		}
		if !s.Data.Config.SyncAlways {
			refused = append(refused, fmt.Sprintf("server %s does not sync each append (sync_interval: always)", s.Server.Name))
		}
	}
	return refused
}

// version returns the numbers of a version string. They are zeros if there are none.
func version(s string) []int {
	var n [3]int
	_, _ = fmt.Sscanf(s, "%d.%d.%d", &n[0], &n[1], &n[2])
	return n[:]
}

// askAll asks the servers that have the stream about their settings, with the system account. Most
// of these servers must answer.
func askAll(ctx context.Context, o Options, of *jetstream.ClusterInfo) ([]server, error) {
	if of == nil || of.Leader == "" {
		return nil, errors.New("the stream has no leader")
	}
	names := []string{of.Leader}
	for _, p := range of.Replicas {
		names = append(names, p.Name)
	}
	var all []server
	err := ask(ctx, o, askJetStream, func(b []byte) bool {
		var s server
		if json.Unmarshal(b, &s) == nil && slices.Contains(names, s.Server.Name) {
			all = append(all, s)
		}
		return len(all) == len(names)
	})
	if err != nil {
		return nil, err
	}
	if len(all) <= len(names)/2 {
		return nil, fmt.Errorf("%d of its %d servers answer to the system account", len(all), len(names))
	}
	return all, nil
}
