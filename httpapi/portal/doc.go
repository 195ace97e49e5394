// Package portal serves pages for customers: below /portal/ of connectors with portal: true, to the users of accounts.
//
// A page shows what is its account's alone, and no more of that than the API would. What users do goes the way of the API's
// requests: package v1 submits and finds their messages. Keys are made and revoked by the editor of managed files.
//
// # Start reading
//
// site.go (who is served what), login.go, page.go (what templates are given), then the pages: overview.go, messages.go, send.go,
// statistics.go, balance.go, webhooks.go, keys.go.
package portal
