// Package migrate makes pmg import: configurations of other gateways become ones of PMG.
//
// # Start reading
//
// Command (command.go); the packages below it read and translate.
package migrate
