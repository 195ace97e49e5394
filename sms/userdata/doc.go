// Package userdata is about the user data of short messages (3GPP TS 23.040 §9.2.3.24):
// the header that it may begin with, and long messages, which are sent in parts. It cuts
// texts into parts and joins parts again.
//
// How a part says which one it is, in a user data header or in a field of its protocol,
// is the caller's business: both are a Part here.
//
// To send a long message, a caller asks Splitter.Count for the number of parts, cuts each with
// Splitter.Next and writes its header with AppendHeader. To join one, it gives the Part of each
// message's Header to a Joiner. Joined, the texts behind the headers follow one another, and
// AppendHeader without a Part makes the header of the whole.
//
// # Start reading
//
// header.go (Part, Parse), then split.go and join.go.
package userdata
