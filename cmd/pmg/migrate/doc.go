// Package migrate makes pmg import, which translates configurations of other gateways to PMG.
//
// # Start reading
//
// Command (command.go); the packages below it read and translate.
package migrate
