package nats

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The subjects of requests that each server answers to the system account.
const (
	askJetStream = "$SYS.REQ.SERVER.PING.JSZ"     // its settings and use of JetStream, if it has JetStream
	askHealth    = "$SYS.REQ.SERVER.PING.HEALTHZ" // whether it works
)

// answersWait is how long servers have to answer to the system account.
const answersWait = time.Second

// ask sends a request to all servers with the system account. It calls take with each answer, until take returns true or
// answersWait is over.
func ask(ctx context.Context, o Options, subject string, take func(answer []byte) (enough bool)) error {
	conn, err := Connect(o.Servers, o.System)
	if err != nil {
		return fmt.Errorf("cannot connect as the system account: %w", err)
	}
	defer conn.Close()
	inbox := conn.NewInbox()
	answers, err := conn.SubscribeSync(inbox)
	if err == nil {
		err = conn.PublishRequest(subject, inbox, nil)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answersWait)
	defer cancel()
	for {
		m, err := answers.NextMsgWithContext(ctx)
		if err != nil || take(m.Data) {
			return nil
		}
	}
}

// A health is the answer of a server about itself.
type health struct {
	Server struct {
		Name string `json:"name"`
	} `json:"server"`
	Data struct {
		Status string `json:"status"`
		Error  string `json:"error"`
	} `json:"data"`
}

// Explain adds to the error of an attempt to use the servers what they say that is wrong with them.
func Explain(ctx context.Context, o Options, err error) error {
	if err == nil || errors.Is(err, nats.ErrNoServers) || errors.Is(err, ErrRefused) {
		return err
	}
	return Explained(err, Unhealthy(ctx, o))
}

// Explained adds to an error what the servers say that is wrong with them: the lines of Unhealthy.
func Explained(err error, lines []string) error {
	for _, line := range lines {
		err = fmt.Errorf("%w; %s", err, line)
	}
	return err
}

// Unhealthy returns what the servers say that is wrong with them, a line for each such server. It asks also if ctx has ended.
// Servers that do not answer have no line; without the system account they cannot be asked.
func Unhealthy(ctx context.Context, o Options) (all []string) {
	if o.System == nil {
		return nil
	}
	_ = ask(context.WithoutCancel(ctx), o, askHealth, func(b []byte) bool { // perhaps none of them answers
		all = append(all, unhealthy(b)...)
		return false // nobody knows how many servers will answer
	})
	slices.Sort(all)
	return all
}

// unhealthy returns what is wrong with a server by its answer.
func unhealthy(answer []byte) []string {
	var h health
	if json.Unmarshal(answer, &h) != nil || h.Data.Error == "" {
		return nil
	}
	return []string{fmt.Sprintf("server %s says: %s", h.Server.Name, h.Data.Error)}
}

// A Use is how much of a limit is used.
type Use struct {
	Of          string // what the limit is of
	Used, Limit uint64 // in octets; 0: there is no limit
}

// Share returns the used share of the limit, 0 if there is no limit.
func (u Use) Share() float64 {
	if u.Limit == 0 {
		return 0
	}
	return float64(u.Used) / float64(u.Limit)
}

// Fullest returns the use of the limit that is reached first: that of the stream, of the account, or of a server that has the
// stream. Without the system account, the limits of servers are not known.
func (j *Journal) Fullest() (Use, error) {
	ctx, cancel := context.WithTimeout(j.ctx, j.waits.ask)
	defer cancel()
	info, err := j.stream.Info(ctx)
	if err != nil {
		return Use{}, fmt.Errorf("cannot read the state of the stream %s: %w", j.name, err)
	}
	account, accountErr := j.js.AccountInfo(ctx)
	if accountErr != nil {
		account = &jetstream.AccountInfo{}
	}
	var servers []server
	if j.o.System != nil {
		servers, err = askAll(ctx, j.o, info.Cluster)
	}
	return fullest(info, account, servers), errors.Join(accountErr, err)
}

func fullest(info *jetstream.StreamInfo, account *jetstream.AccountInfo, servers []server) Use {
	all := []Use{
		useOf("the limit of the stream "+info.Config.Name, info.State.Bytes, info.Config.MaxBytes),
		useOf("the limit of the account in NATS", account.Store, account.Limits.MaxStore),
	}
	for _, s := range servers {
		all = append(all, useOf("the limit of server "+s.Server.Name+" (max_file)", s.Data.Storage, s.Data.Config.MaxStorage))
	}
	return slices.MaxFunc(all, func(a, b Use) int { return cmp.Compare(a.Share(), b.Share()) })
}

func useOf(of string, used uint64, limit int64) Use { return Use{of, used, uint64(max(limit, 0))} }

// Limit returns the limit of the stream in octets when the journal was opened; 0: no limit.
func (j *Journal) Limit() int64 { return j.most }
