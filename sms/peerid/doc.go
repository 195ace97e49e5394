// Package peerid compares the ids that SMSCs give to messages. Many SMSCs write an id in a receipt
// differently from the id in the answer to the submit: in decimal instead of hexadecimal or the other way
// round, in capitals, with leading zeros.
//
// Ids are compared by keys. AppendKey makes the key of an id in an answer with Same. A receipt's id has a key for each
// Relation that it may have to the answer's, and a Learner learns which relations are possible.
//
// # Start reading
//
// key.go, then learner.go.
package peerid
