package webhooks

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"pmg/admin"
	"pmg/gateway/webhooks"
)

func enableCommand(p Program) *cobra.Command {
	return callCommand(p, &cobra.Command{
		Use:   "enable ACCOUNT",
		Short: "Enable a webhook that is disabled because it answered 410 Gone",
		Long: `Enables the servers of an account that are disabled because its webhook answered 410 Gone:
they are called with the waiting events. A reload and a restart do that for all accounts.`,
		Example: "  pmg webhooks enable shop",
	}, "called again", "no server of account %s is disabled")
}

func retryCommand(p Program) *cobra.Command {
	return callCommand(p, &cobra.Command{
		Use:   "retry ACCOUNT",
		Short: "Call servers now that wait for their next attempt",
		Long: `Calls the servers of an account that have waiting events now, even if they rest because calls
have failed. A server that fails again rests again. A disabled server stays disabled (enable),
and dead letters stay dead (replay).`,
		Example: "  pmg webhooks retry shop",
	}, "called now", "nothing waits for a server of account %s that may be called")
}

// callCommand completes a command that calls the servers of an account. none is the error if no server was called.
func callCommand(p Program, cmd *cobra.Command, done, none string) *cobra.Command {
	ask := p.Gateway(cmd)
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var answer admin.Called
		path := admin.Base + "/webhooks/" + cmd.Name() + "?" + url.Values{"account": {args[0]}}.Encode()
		if err := ask(http.MethodPost, path, &answer); err != nil {
			return err
		}
		if len(answer.Servers) == 0 {
			return fmt.Errorf(none, args[0])
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", done, strings.Join(answer.Servers, ", "))
		return err
	}
	return cmd
}

func testCommand(p Program) *cobra.Command {
	var fallback bool
	cmd := &cobra.Command{
		Use:   "test ACCOUNT",
		Short: "Call a webhook once, and show what it answers",
		Long: `Calls the webhook of an account with an empty event of type webhook.test, signed like others,
and shows the answer. It is called even while it rests or is disabled. The exit status is 1 if
it did not accept the call.`,
		Example: "  pmg webhooks test shop",
		Args:    cobra.ExactArgs(1),
	}
	ask := p.Gateway(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		v := url.Values{"account": {args[0]}}
		if fallback {
			v.Set("fallback", "1")
		}
		var a webhooks.Attempt
		if err := ask(http.MethodPost, admin.Base+"/webhooks/test?"+v.Encode(), &a); err != nil {
			return err
		}
		if _, err := fmt.Fprint(cmd.OutOrStdout(), attemptsText(p, []webhooks.Attempt{a}, true)); err != nil {
			return err
		}
		if !a.Taken {
			return fmt.Errorf("the webhook of account %s did not accept the call", args[0])
		}
		return nil
	}
	cmd.Flags().BoolVar(&fallback, "fallback", false, "call webhook_fallback instead")
	return cmd
}
