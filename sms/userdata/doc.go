// Package userdata parses and writes the user data header of short messages (3GPP TS 23.040 §9.2.3.24), splits long texts into
// parts, and joins parts.
//
// A message may be marked as a part by a user data header, or by a field of its protocol. The caller reads either as a Part.
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
