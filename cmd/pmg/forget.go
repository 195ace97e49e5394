package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"pmg/cmd/pmg/forget"
	"pmg/config"
)

// forgetTimeout is how long a gateway may take to rewrite its logs.
const forgetTimeout = time.Hour

// forgetProgram returns what pmg forget needs of the others.
func forgetProgram() forget.Program {
	return forget.Program{
		Gateway: func(cmd *cobra.Command) func() (forget.Ask, *config.Config, error) {
			o := new(statusOptions)
			o.flags(cmd)
			return func() (forget.Ask, *config.Config, error) { return findForgetting(cmd, o) }
		},
		Driver: newLogProtocols().find,
		JSON:   writeJSON,
	}
}

// findForgetting returns how the gateway is asked, or the configuration of one that does not run.
func findForgetting(cmd *cobra.Command, o *statusOptions) (forget.Ask, *config.Config, error) {
	ask := func(ctx context.Context, method, path string, v any) error {
		return askAdminFor(ctx, forgetTimeout, &o.Gateway, method, path, v)
	}
	if o.Address != "" {
		return ask, nil, nil
	}
	cfg, err := loadConfig(cmd.ErrOrStderr(), o.config)
	if err != nil {
		return nil, nil, err
	}
	if o.Find(cfg, o.config) == nil {
		_, err := o.Request(cmd.Context(), statusTimeout, http.MethodGet, "/healthz")
		if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist) {
			return ask, nil, nil
		}
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "no gateway answers that runs with %s, so this is about its files\n", o.config)
	return nil, cfg, nil
}
