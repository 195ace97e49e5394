// Package ask is how commands find a configuration and the gateway that runs with it, send it requests, and take and complete
// arguments.
//
// Start reading with Gateway.Find, which says where a gateway is asked.
package ask

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"pmg/config"
	"pmg/internal/console"
	"pmg/internal/httpcall"
	"pmg/internal/tlsfiles"
	"pmg/protocols/httpsms"
)

// A Gateway is one that runs.
type Gateway struct {
	Address   string // host:port, a URL, or the path of a socket; "": not known yet
	ca        string // a file with the authority of the gateway's certificate; "": the machine's authorities
	tokenFile string // file with the token; "": the environment has the token

	certificate, key string // files of the client certificate for an address that requires certificates; "": no certificate
}

// Flags adds the flags that select a gateway.
func (g *Gateway) Flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&g.Address, "address", "", "where a running gateway is asked: its admin `address`, as host:port or URL, or the path of its socket")
	cmd.Flags().StringVar(&g.ca, "ca", "", "a `file` with the authority that has issued the certificate of an https address; without it the machine's are trusted")
	cmd.Flags().StringVar(&g.certificate, "certificate", "", "a `file` with our certificate, for an https address that requires one (admin.tls.require_client)")
	cmd.Flags().StringVar(&g.key, "key", "", "the `file` with the key of --certificate; without it that file has both")
	cmd.Flags().StringVar(&g.tokenFile, "token-file", "", "a `file` with the token for the admin address; without it PMG_ADMIN_TOKEN of the environment is the token")
}

// Find sets the address to where the gateway of a configuration is asked: at its socket, and if nothing can be
// asked there, at its admin address. The file is that of the configuration, for messages.
func (g *Gateway) Find(c *config.Config, file string) error {
	socket := c.AdminSocket()
	if socket == "" && c.Admin.Address == "" {
		return fmt.Errorf(
			"cannot ask gateway: %s sets no admin.address and no admin.socket, so the gateway does not listen for "+
				"operators: set one, and start the gateway again",
			file,
		)
	}
	if !strings.Contains(socket, "/") && socket != "" {
		socket = "./" + socket
	}
	g.Address = c.Admin.Address
	if c.Admin.TLS.Enabled && g.Address != "" {
		g.Address = "https://" + g.Address
	}
	if g.Address == "" || socket != "" && opens(socket) {
		g.Address = socket
	}
	return nil
}

// opens reports whether a process listens on a socket that we may open.
func opens(path string) bool {
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}

// An Answer is a gateway's answer to a request.
type Answer struct {
	URL, Status string
	Code        int
	Body        []byte
}

// maxAnswer is the size that an answer may have.
const maxAnswer = 64 << 20

// Runs reports whether the gateway of a configuration, which was read from a file, is there to be asked.
func (g *Gateway) Runs(ctx context.Context, timeout time.Duration, c *config.Config, file string) bool {
	if g.Find(c, file) != nil {
		return false
	}
	_, err := g.Request(ctx, timeout, http.MethodGet, "/healthz")
	return !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist)
}

// Request sends a request to the gateway.
func (g *Gateway) Request(ctx context.Context, timeout time.Duration, method, path string) (a Answer, err error) {
	base, o, err := g.way()
	if err != nil {
		return a, fmt.Errorf("cannot ask gateway: %w", err)
	}
	a.URL = base + path
	call := &httpsms.Call{Method: method, URL: a.URL}
	if o.Dial == nil { // a socket needs no token
		if err := g.authorize(call); err != nil {
			return a, fmt.Errorf("cannot ask gateway: %w", err)
		}
	}
	o.Timeout, o.MaxBody = timeout, maxAnswer
	s := httpcall.New(o)
	defer s.Close()
	answer := s.Send(ctx, call)
	if err := answer.Cause; err != nil {
		return a, fmt.Errorf(
			"cannot ask gateway: %s: %w; is it running, with this admin.address? --address names another", a.URL, err,
		)
	}
	if len(answer.Body) == maxAnswer { // the rest is missing
		return a, fmt.Errorf("cannot read the answer of %s: it has more than %d octets: curl can fetch it", a.URL, maxAnswer)
	}
	a.Code, a.Status, a.Body = answer.Status, answer.Line, answer.Body
	return a, nil
}

// maxReason is how many octets of an answer that says no are shown.
const maxReason = 1000

// Granted sends a request, and returns an error if the gateway's answer is not that of success.
func (g *Gateway) Granted(ctx context.Context, timeout time.Duration, method, path string) (Answer, error) {
	answer, err := g.Request(ctx, timeout, method, path)
	if err != nil || answer.Code == http.StatusOK {
		return answer, err
	}
	reason := console.Escaped(strings.TrimSpace(string(answer.Body[:min(len(answer.Body), maxReason)])))
	if strings.HasPrefix(reason, "cannot ") { // the error is complete
		return answer, errors.New(reason)
	}
	return answer, fmt.Errorf("cannot ask gateway: %s answers %s: %s", answer.URL, console.Escaped(answer.Status), reason)
}

// JSON sends a request, and reads the gateway's answer into v.
func (g *Gateway) JSON(ctx context.Context, timeout time.Duration, method, path string, v any) error {
	answer, err := g.Granted(ctx, timeout, method, path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer.Body, v); err != nil {
		return fmt.Errorf("cannot read the answer of %s: %w", answer.URL, err)
	}
	return nil
}

// authorize adds the token to a call.
func (g *Gateway) authorize(call *httpsms.Call) error {
	token := os.Getenv("PMG_ADMIN_TOKEN")
	if g.tokenFile != "" {
		b, err := os.ReadFile(g.tokenFile)
		if err != nil {
			return fmt.Errorf("cannot read the token: %w", err)
		}
		token = string(b)
	}
	if token = strings.TrimSpace(token); token != "" {
		call.Header = [][2]string{{"Authorization", "Bearer " + token}}
	}
	return nil
}

// way returns how the gateway is reached, and what comes before the path of a request.
func (g *Gateway) way() (base string, o httpcall.Options, err error) {
	scheme, address, isURL := strings.Cut(g.Address, "://")
	if !isURL {
		scheme, address = "http", g.Address
	}
	switch {
	case scheme != "http" && scheme != "https":
		return "", o, fmt.Errorf("%s is neither host:port, an URL of http or https, nor the path of a socket", g.Address)
	case !isURL && strings.Contains(address, "/"):
		o.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", address)
		}
		return "http://localhost", o, nil
	case address == "":
		return "", o, errors.New("no address is known")
	}
	host, port, err := net.SplitHostPort(strings.TrimSuffix(address, "/"))
	if err != nil {
		return "", o, err
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "localhost" // the gateway listens on every address, and so on this one
	}
	if g.ca != "" || g.certificate != "" {
		files := tlsfiles.Options{Authorities: g.ca, Oldest: tls.VersionTLS12}
		if g.certificate != "" {
			files.Certificates, files.Keys = []string{g.certificate}, []string{cmp.Or(g.key, g.certificate)}
		}
		if o.TLS, _, err = tlsfiles.Load(&files, false); err != nil {
			return "", o, err
		}
	}
	return scheme + "://" + net.JoinHostPort(host, port), o, nil
}
