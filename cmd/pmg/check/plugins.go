package check

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"pmg/cmd/pmg/ask"
	"pmg/config"
	"pmg/gateway/hooks"
	"pmg/internal/figuretext"
	"pmg/plugin"
)

// Plugins returns the command.
func Plugins(load ask.Load) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Ask a plugin about a message, or measure it",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(pluginTestCommand(load), pluginBenchCommand(load))
	return cmd
}

// messageHelp describes how the commands are given a message.
const messageHelp = `The message is read from standard input: an object of JSON with the
members that docs/plugins.md lists, of which any may be missing. Without "hook" it is
of the hook accept.`

func pluginTestCommand(load ask.Load) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "test NAME",
		Short: "Print the verdict of a plugin about a message",
		Long: `Asks a plugin of the configuration about a message, without a gateway, and prints its
verdict as JSON. If there is no verdict, it prints the reason and the effect of on_failure,
and the exit status is 1.

` + messageHelp,
		Example: `  echo '{"from": "ACME", "to": "46701234567", "text": "Casino!"}' | pmg plugin test content`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			pool, m, err := openPlugin(cmd, load, file, args[0])
			if err != nil {
				return err
			}
			defer pool.Close()
			d := pool.Ask(m)
			if d.Failure != nil {
				return fmt.Errorf("no verdict: %w; on_failure is %s", d.Failure, pool.OnFailure)
			}
			text, err := json.MarshalIndent(&d.Verdict, "", "  ")
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
			return err
		},
	}
	ask.Flag(cmd, &file)
	return cmd
}

func pluginBenchCommand(load ask.Load) *cobra.Command {
	var file string
	var duration time.Duration
	var clients int
	cmd := &cobra.Command{
		Use:   "bench NAME",
		Short: "Measure how fast a plugin decides",
		Long: `Asks a plugin of the configuration repeatedly about the same message, without a gateway, and
prints the number of verdicts a second and the time of a verdict.

` + messageHelp,
		Example: `  echo '{"to": "46701234567", "text": "Hello"}' | pmg plugin bench --clients 64 score`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if clients < 1 || clients > 10_000 || duration <= 0 {
				return fmt.Errorf("cannot measure: --clients must be from 1 to 10,000, and --duration more than 0s")
			}
			pool, m, err := openPlugin(cmd, load, file, args[0])
			if err != nil {
				return err
			}
			defer pool.Close()
			return bench(cmd.OutOrStdout(), pool, m, clients, duration)
		},
	}
	ask.Flag(cmd, &file)
	cmd.Flags().DurationVar(&duration, "duration", 5*time.Second, "how long to ask")
	cmd.Flags().IntVar(&clients, "clients", 64, "number of messages under way at the same time")
	return cmd
}

// open makes the pool of a plugin of a configuration, and reads a message.
func openPlugin(cmd *cobra.Command, load ask.Load, file, name string) (*plugin.Pool, *plugin.Message, error) {
	c, err := load(cmd.ErrOrStderr(), file)
	if err != nil {
		return nil, nil, err
	}
	var p *config.Plugin
	var names []string
	for i := range c.Plugins {
		if names = append(names, c.Plugins[i].Name); c.Plugins[i].Name == name {
			p = &c.Plugins[i]
		}
	}
	if p == nil {
		return nil, nil, fmt.Errorf("the configuration has no plugin %q; its plugins are: %s", name, strings.Join(names, ", "))
	}
	m := &plugin.Message{Hook: plugin.Accept, Alphabet: "gsm7", Arrived: time.Now()}
	d := json.NewDecoder(io.LimitReader(cmd.InOrStdin(), 1<<20))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		return nil, nil, fmt.Errorf("cannot read the message from standard input: %w", err)
	}
	if !slices.Contains(plugin.Hooks(), m.Hook) {
		all := strings.Join(plugin.Hooks(), ", ")
		return nil, nil, fmt.Errorf("cannot read the message from standard input: no hook %q; the hooks are: %s", m.Hook, all)
	}
	return plugin.NewPool(hooks.Open(zerolog.New(cmd.ErrOrStderr()))(p), p.Options()), m, nil
}

// bench asks a plugin for a while, and writes the rate and the latencies.
func bench(w io.Writer, pool *plugin.Pool, m *plugin.Message, clients int, duration time.Duration) error {
	var all sync.WaitGroup
	var last atomic.Pointer[error]
	began := time.Now()
	for range clients {
		all.Go(func() {
			for time.Since(began) < duration {
				one := *m
				if d := pool.Ask(&one); d.Failure != nil {
					last.Store(&d.Failure)
				}
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	f := pool.Figures()
	_, err := fmt.Fprintf(
		w, "%s verdicts in %v, %s a second; %s failed\n"+
			"work: mean %v, p50 %v, p99 %v, max %v\nwait: mean %v, p50 %v, p99 %v, max %v\n",
		figuretext.Number(f.Asked-f.Failed), took.Round(time.Millisecond),
		figuretext.Number(int64(float64(f.Asked-f.Failed)/took.Seconds())), figuretext.Number(f.Failed),
		f.Work.Mean, f.Work.P50, f.Work.P99, f.Work.Max, f.Wait.Mean, f.Wait.P50, f.Wait.P99, f.Wait.Max,
	)
	if failure := last.Load(); failure != nil && err == nil {
		_, err = fmt.Fprintf(w, "the last failure: %v\n", *failure)
	}
	return err
}
