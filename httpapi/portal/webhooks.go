package portal

import (
	"net/url"

	"pmg/gateway/webhooks"
	"pmg/protocols/httpsms/own"
)

// A webhooksModel is the model of the page of webhooks.
type webhooksModel struct {
	URL, Fallback string // URLs without parts that may be secret
	Pull          bool
	Signed        bool
	Servers       []webhooks.Row
	Deliveries    []webhooks.Attempt
}

func webhooksOf(v *visit) (any, *own.Problem) {
	a := v.x.Account.Config()
	return webhooksModel{
		URL: withoutSecrets(a.Webhook), Fallback: withoutSecrets(a.WebhookFallback), Pull: a.Pull, Signed: a.WebhookKey != "",
		Servers: v.rooms().Webhooks.Rows(v.who.account), Deliveries: v.deliveries(""),
	}, nil
}

// deliveries returns the latest deliveries to servers of the account, of a message unless id is "".
func (v *visit) deliveries(id string) []webhooks.Attempt {
	return v.rooms().Webhooks.Attempts(webhooks.Filter{Account: v.who.account, ID: id, Limit: mostShown})
}

// withoutSecrets returns a URL without its user and its query.
func withoutSecrets(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	if u.User = nil; u.RawQuery != "" {
		u.RawQuery = "…"
	}
	return u.String()
}
