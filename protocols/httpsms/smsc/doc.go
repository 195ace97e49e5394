// Package smsc writes messages for SMSCs that speak HTTP, whatever their interfaces are: requests are made of
// templates, and answers are judged by conditions. Receipts and messages from mobiles are read by the names of
// their parameters or by JSON pointers. There are presets for the interfaces of other gateways.
//
// # Start reading
//
// smsc.go (SMSC), presets.go, values.go (what templates are filled with), template.go, tree.go (JSON), judge.go
// (answers), callback.go (receipts and messages from mobiles).
package smsc
