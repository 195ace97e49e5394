package route

import "pmg/connector"

// Title returns the name of a lane's peer in logs.
func Title(l *connector.Lane) string {
	if l.Endpoint != "" {
		return l.Endpoint + " of account " + l.Account
	}
	if l.ToClient() {
		return "account " + l.Account
	}
	return "connector " + l.Home().Name
}
