package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/dialogue"
	"pmg/cmd/pmg/replay"
	"pmg/internal/console"
	"pmg/internal/logtext"
	"pmg/pdulog"
	"pmg/protocols"
	"pmg/protocols/smpp"
)

// submits are the commands that pmg replay sends, by protocol.
var submits = map[string][]string{
	"smpp": {"submit_sm", "submit_multi", "data_sm"},
	"ucp":  {"op01", "op02", "op30", "op51"},
}

// maxReplayWindow limits the submits without an answer: UCP has 100 numbers.
const maxReplayWindow = 40

// replayFlags holds the flags of pmg replay.
type replayFlags struct {
	logFlags
	tls          dialogue.Flags
	options      replay.Options
	protocol     string
	speed        string
	account      string
	passwordFile string
}

const (
	replayLong = `Reads pdu logs as pmg log does, takes the submits of clients, and sends them to a gateway
or an SMSC, at the distances in time that they had, or faster. Everything but the number of
the PDU is sent as it was: addresses, coding, headers, octets. With --mask-texts the letters
and digits of texts are replaced by others.

The messages are sent: name a sandbox (pmg dev), a test gateway, or know what you do.

Only submits of one protocol are sent: SMPP's submit_sm, submit_multi and data_sm, or
UCP's 01, 02, 30 and 51. Lines that lack octets of their PDUs are left out and counted.
Receipts and answers are not compared: it logs in as a transmitter.

The password is in --password-file, or in $` + dialogue.PasswordVariable + `, or pmg replay prompts for it.
The result is 1 if a submit was refused or not answered.`

	replayExample = `  pmg replay --to 127.0.0.1:2775 --system-id smpp --dir /tmp/logs --connector clients
  pmg replay --to 127.0.0.1:2775 --system-id smpp --account acme --since 19:05 --until 19:10 --speed 10
  pmg replay --to 127.0.0.1:2775 --system-id smpp --since 1h --speed max --window 40 --mask-texts
  pmg replay --to 127.0.0.1:3700 --protocol ucp --system-id 1234 --since 1h`
)

func newReplayCommand() *cobra.Command {
	r := replayFlags{options: replay.Options{Window: 10}}
	cmd := &cobra.Command{
		Use:     "replay",
		Short:   "Send the submits of pdu logs again",
		Long:    replayLong,
		Example: replayExample,
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return r.run(cmd) },
	}
	f := cmd.Flags()
	r.defineSelection(cmd)
	f.StringVar(&r.account, "account", "", "only submits of this `account`")
	f.StringVar(&r.direction, "direction", "in", "only submits that the gateway received (in) or sent (out)")
	f.StringVar(&r.options.Address.HostPort, "to", "", "`host:port` to send to")
	f.StringVar(&r.protocol, "protocol", "smpp", "the `protocol` to speak: smpp or ucp")
	f.StringVar(&r.options.Login.SystemID, "system-id", "", "the `account` to log in with")
	f.StringVar(&r.passwordFile, "password-file", "", "a `file` with the password")
	f.StringVar(&r.speed, "speed", "1", "how many `times` as fast as it was, or max")
	f.IntVar(&r.options.Window, "window", r.options.Window, fmt.Sprintf("submits without an answer, up to %d", maxReplayWindow))
	f.BoolVar(&r.options.Disguise, "mask-texts", false, "replace the letters and digits of texts before they are sent")
	f.DurationVar(&r.options.Address.Timeout, "timeout", 10*time.Second, "how `long` to wait for each answer")
	r.tls.Define(cmd)
	_ = errors.Join(cmd.MarkFlagRequired("to"), cmd.MarkFlagRequired("system-id")) // both are defined above
	return cmd
}

// prepare checks the flags, and makes the options of them.
func (r *replayFlags) prepare() (err error) {
	o := &r.options
	if _, _, err := net.SplitHostPort(o.Address.HostPort); err != nil {
		return fmt.Errorf("cannot send to %s: it must be host:port", o.Address.HostPort)
	}
	if r.speed != "max" {
		if o.Speed, err = strconv.ParseFloat(r.speed, 64); err != nil || !(o.Speed >= 0.001 && o.Speed <= 1e6) {
			return fmt.Errorf("cannot use --speed %s: use a number such as 1, 10 or 0.5, or max", r.speed)
		}
	}
	if o.Window < 1 || o.Window > maxReplayWindow {
		return fmt.Errorf("cannot use --window %d: use 1 to %d", o.Window, maxReplayWindow)
	}
	if submits[r.protocol] == nil {
		return fmt.Errorf("cannot replay %s: --protocol is smpp or ucp", r.protocol)
	}
	if o.Driver, err = newSessionDriver(r.protocol); err != nil {
		return err
	}
	o.Login.Role, o.Login.EnquireInterval = protocols.Client, int64(20*time.Second)
	o.Login.ResponseTimeout = int64(o.Address.Timeout)
	if r.protocol == "smpp" {
		s := smpp.NewConnectorOptions()
		s.Bind = protocols.Transmitter
		o.Login.Options = s
	}
	o.Address.TLS = r.tls.Options()
	return nil
}

func (r *replayFlags) run(cmd *cobra.Command) error {
	if err := r.prepare(); err != nil {
		return err
	}
	protocols := newLogProtocols()
	r.commands = submits[r.protocol]
	now := time.Now()
	q, err := r.query(protocols, now, false)
	if err != nil {
		return err
	}
	q.Last = 0
	if u := &q.Filter.Until; u.IsZero() || u.After(now) {
		*u = now // a gateway that replays its own log would otherwise have no end
	}
	if r.dir == "" {
		if r.dir, err = logDirectory(r.config, cmd.Flags().Changed("config")); err != nil {
			return err
		}
	}
	if err := r.checkLogsExist(cmd.ErrOrStderr()); err != nil {
		return err
	}
	if r.options.Login.Password, err = dialogue.AskPassword(cmd, r.passwordFile); err != nil {
		return err
	}
	ctx, stop := console.Interruptible(cmd.Context())
	defer stop()
	r.options.Decoder = pdulog.NewDecoder(protocols.find)
	q.Filter.Decoder = pdulog.NewDecoder(protocols.find)
	p, err := replay.New(ctx, cmd.ErrOrStderr(), &r.options)
	if err != nil {
		return fmt.Errorf("%s: %w", r.options.Address.HostPort, err)
	}
	account := string(logtext.AppendValue(nil, []byte(r.account)))
	skipped, err := pdulog.Read(ctx, r.dir, q, func(e *pdulog.Entry) error {
		if r.account != "" && string(e.Account) != account {
			return nil
		}
		return p.Play(e)
	})
	if skipped > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d lines omitted: they are not pdu log lines\n", skipped)
	}
	return p.End(cmd.OutOrStdout(), err)
}
