// Package portal serves pages for customers: below /portal/ of connectors with portal: true, to the users of accounts.
//
// A page shows only data of its account, and no more than the API would. Actions of users are handled like
// the API's requests: package v1 submits and finds messages. The editor of managed files makes and revokes
// keys.
//
// # Start reading
//
// site.go (routing and access), login.go, page.go (the arguments of templates), then the pages: overview.go,
// messages.go, send.go, statistics.go, balance.go, webhooks.go, keys.go.
package portal
