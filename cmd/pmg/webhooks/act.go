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
	cmd := &cobra.Command{
		Use:   "enable ACCOUNT",
		Short: "Have a webhook called again that has answered 410 Gone",
		Long: `Has the servers of an account called again that are disabled because its webhook has answered
410 Gone, with the events that wait. A reload and a restart do that for all accounts.`,
		Example: "  pmg webhooks enable shop",
		Args:    cobra.ExactArgs(1),
	}
	ask := p.Gateway(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var answer admin.Enabled
		if err := ask(
			http.MethodPost, admin.Base+"/webhooks/enable?"+url.Values{"account": {args[0]}}.Encode(), &answer,
		); err != nil {
			return err
		}
		if len(answer.Servers) == 0 {
			return fmt.Errorf("no server of account %s is disabled", args[0])
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "called again: %s\n", strings.Join(answer.Servers, ", "))
		return err
	}
	return cmd
}

func retryCommand(p Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "retry ACCOUNT",
		Short: "Call servers now that rest, with the events that wait",
		Long: `Calls the servers of an account now for which events wait, however long they were to rest because
calls had failed. A server that fails again rests again. One that is disabled stays so (enable),
and dead letters stay where they are (replay).`,
		Example: "  pmg webhooks retry shop",
		Args:    cobra.ExactArgs(1),
	}
	ask := p.Gateway(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var answer admin.Called
		if err := ask(
			http.MethodPost, admin.Base+"/webhooks/retry?"+url.Values{"account": {args[0]}}.Encode(), &answer,
		); err != nil {
			return err
		}
		if len(answer.Servers) == 0 {
			return fmt.Errorf("nothing waits for a server of account %s that may be called", args[0])
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "called now: %s\n", strings.Join(answer.Servers, ", "))
		return err
	}
	return cmd
}

func testCommand(p Program) *cobra.Command {
	var fallback bool
	cmd := &cobra.Command{
		Use:   "test ACCOUNT",
		Short: "Call a webhook once, and show what it answers",
		Long: `Calls the webhook of an account with an event of type webhook.test, which tells nothing, signed as
others are, and shows the answer. It is also called while it rests or is disabled. The exit
status is 1 if it did not take the call.`,
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
			return fmt.Errorf("the webhook of account %s did not take the call", args[0])
		}
		return nil
	}
	cmd.Flags().BoolVar(&fallback, "fallback", false, "call webhook_fallback in its place")
	return cmd
}
