package dialogue

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"pmg/internal/tlsfiles"
)

// An Address is where an SMSC, or a gateway, listens.
type Address struct {
	HostPort string
	TLS      *tlsfiles.Options // nil: no TLS
	Timeout  time.Duration     // limit of the time for the connection, and for each answer
}

// Dial connects, and writes how that went. The connection ends with ctx.
func (a *Address) Dial(ctx context.Context, out io.Writer) (net.Conn, error) {
	began := time.Now()
	plain, err := (&net.Dialer{Timeout: a.Timeout}).DialContext(ctx, "tcp", a.HostPort)
	if err != nil {
		return nil, fmt.Errorf("cannot connect: %w", err)
	}
	context.AfterFunc(ctx, func() { _ = plain.Close() })
	fmt.Fprintf(out, "connected to %s in %s\n", plain.RemoteAddr(), Rounded(time.Since(began)))
	if a.TLS == nil {
		return plain, nil
	}
	limited, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	conn, err := handshake(limited, out, plain, a)
	if err != nil {
		_ = plain.Close()
	}
	return conn, err
}

// Rounded returns a duration without digits that say nothing.
func Rounded(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

// Flags are the flags of a command that connects with TLS.
type Flags struct {
	encrypted        bool
	tls              tlsfiles.Options
	certificate, key string
}

// Define adds the flags to a command.
func (o *Flags) Define(cmd *cobra.Command) {
	o.tls.Oldest = tls.VersionTLS12
	f := cmd.Flags()
	f.BoolVar(&o.encrypted, "tls", false, "speak TLS")
	f.StringVar(&o.tls.Authorities, "ca", "", "trust the authorities in this `file` instead of those of the machine")
	f.StringVar(&o.tls.ServerName, "server-name", "", "the `name` that its certificate must have; the host when not given")
	f.StringVar(&o.certificate, "certificate", "", "a `file` with our certificate")
	f.StringVar(&o.key, "key", "", "the `file` with its key")
	f.BoolVar(
		&o.tls.Insecure, "insecure", false,
		"log in even if its certificate is not valid: somebody in between could read the password",
	)
}

// Options returns the options for TLS, nil without TLS.
func (o *Flags) Options() *tlsfiles.Options {
	if !o.encrypted {
		return nil
	}
	if o.certificate != "" || o.key != "" {
		o.tls.Certificates, o.tls.Keys = []string{o.certificate}, []string{o.key}
	}
	return &o.tls
}

// PasswordVariable is the variable of the environment that has the password.
const PasswordVariable = "SMSC_PASSWORD"

// AskPassword returns the password in the file, or in the environment, or prompts for it.
func AskPassword(cmd *cobra.Command, file string) (string, error) {
	if file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("cannot read the password: %w", err)
		}
		return strings.TrimRight(string(b), "\r\n"), nil
	}
	if p, ok := os.LookupEnv(PasswordVariable); ok {
		return p, nil
	}
	in, ok := cmd.InOrStdin().(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return "", errors.New("cannot log in without a password: set $" + PasswordVariable)
	}
	fmt.Fprint(cmd.ErrOrStderr(), "password: ")
	b, err := term.ReadPassword(int(in.Fd()))
	fmt.Fprintln(cmd.ErrOrStderr())
	return string(b), err
}
