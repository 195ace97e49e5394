package probe

import (
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/dialogue"
	"pmg/internal/console"
	"pmg/protocols"
	"pmg/protocols/smpp"
)

// flags are the flags of pmg probe.
type flags struct {
	drivers func(protocol string) (protocols.SessionDriver, error)
	Options
	protocol string
	tls      dialogue.Flags
}

// Command returns pmg probe for the given protocols, the first of which is the default. drivers makes their drivers.
func Command(names []string, drivers func(protocol string) (protocols.SessionDriver, error)) *cobra.Command {
	o := flags{
		drivers: drivers,
		Options: Options{Messages: 10, Enquiries: 5, Timeout: 10 * time.Second, Bind: protocols.Transmitter.String()},
	}
	cmd := &cobra.Command{
		Use:   "probe HOST:PORT",
		Short: "Test an SMSC, and print a connector for it",
		Long: `Connects to an SMSC, shows its certificates, logs in, sends some keep-alives
(SMPP: enquire_link), logs out, and prints the options of a connector to the SMSC.

The password is in $` + dialogue.PasswordVariable + `, or pmg probe prompts for it. Without --system-id there is no login. With SMPP it logs in
as a transmitter, so that the SMSC delivers nothing; a message that it delivers nevertheless is
refused with a temporary error, so that it comes again.

Only sending shows how many unanswered messages an SMSC accepts: with --to it sends
--messages real messages without waiting, which the SMSC may charge.

With --tls the login is sent only if the SMSC's certificate is valid, or with --insecure.`,
		Example: `  pmg probe smpp.example.net:2775 --system-id acme
  pmg probe smpp.example.net:3550 --tls
  pmg probe smpp.example.net:3550 --tls --ca operator.pem --system-id acme --to 46701234567 --messages 20
  pmg probe ucp.example.net:3700 --protocol ucp --system-id 1234`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) { return o.run(cmd, args[0]) },
	}
	o.define(cmd, names)
	return cmd
}

func (o *flags) define(cmd *cobra.Command, names []string) {
	f := cmd.Flags()
	f.StringVar(&o.protocol, "protocol", names[0], "the `protocol` of the SMSC: "+strings.Join(names, " or "))
	f.StringVar(&o.SystemID, "system-id", "", "the `account` to log in with; no login when not given")
	f.StringVar(&o.Bind, "bind", o.Bind, "SMPP: the `type` of the login: transmitter, receiver or transceiver")
	o.tls.Define(cmd)
	f.IntVar(&o.Enquiries, "enquiries", o.Enquiries, "how many `times` to send a keep-alive, one at a time")
	f.StringVar(&o.To, "to", "", "send real messages to this `number`")
	f.StringVar(&o.From, "from", "", "their source `address`")
	f.IntVar(&o.Messages, "messages", o.Messages, "how `many` to send without waiting for their answers")
	f.DurationVar(&o.Timeout, "timeout", o.Timeout, "how `long` to wait for each answer")
}

func (o *flags) run(cmd *cobra.Command, address string) (err error) {
	o.Address = address
	if _, _, err := net.SplitHostPort(address); err != nil {
		return fmt.Errorf("cannot probe %s: it must be host:port, such as smpp.example.net:2775", address)
	}
	if o.Driver, err = o.drivers(o.protocol); err != nil {
		return err
	}
	if o.Options.Options, err = o.protocolOptions(); err != nil {
		return err
	}
	o.TLS = o.tls.Options()
	if o.SystemID != "" {
		if o.Password, err = dialogue.AskPassword(cmd, ""); err != nil {
			return err
		}
	}
	ctx, stop := console.Interruptible(cmd.Context())
	defer stop()
	if err := Run(ctx, cmd.OutOrStdout(), &o.Options); err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	return nil
}

// protocolOptions returns the options that belong to the protocol.
func (o *flags) protocolOptions() (protocols.Options, error) {
	if o.protocol != "smpp" {
		o.Bind = ""
		return nil, nil
	}
	s := smpp.NewConnectorOptions()
	for _, b := range []protocols.BindType{protocols.Transmitter, protocols.Receiver, protocols.Transceiver} {
		if b.String() == o.Bind {
			s.Bind = b
			return s, nil
		}
	}
	return nil, fmt.Errorf("cannot log in as %q: --bind is transmitter, receiver or transceiver", o.Bind)
}
