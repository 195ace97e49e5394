package main

import (
	"context"
	"fmt"
	"strings"

	"pmg/admin"
	"pmg/cmd/pmg/ask"
	"pmg/config"
	"pmg/gateway/operate"
	"pmg/pdulog/story"
)

// mostFates is how many messages are told of; a number may have many.
const mostFates = 20

// askStore returns what asks a gateway that runs where messages wait. Without an answer nothing is known: the store may be in
// use by a gateway that does not listen for operators.
func askStore(cfg *config.Config) func(context.Context, []uint64) []operate.StoredMessage {
	return func(ctx context.Context, ids []uint64) []operate.StoredMessage {
		running := new(ask.Gateway)
		if running.Find(cfg, "") != nil {
			return nil
		}
		var q admin.QueueQuery
		q.IDs, q.Limit = ids, len(ids)
		page, err := runningStore{running}.list(ctx, q)
		if err != nil {
			return nil
		}
		return page.Messages
	}
}

// fatesOf returns a line for each message, which says what became of it.
func fatesOf(found *story.Found) (lines []string) {
	if found.Cut {
		return []string{"further messages are not followed, nor is told what became of all these: name the id of one, or a shorter --since"}
	}
	for _, s := range found.Stories[:min(len(found.Stories), mostFates)] {
		var told []string
		for i := range s.Steps {
			if text := s.Steps[i].String(); text != "" {
				told = append(told, text)
			}
		}
		switch waits := s.Waiting(); {
		case waits != "":
			told = append(told, waits+": pmg queue show "+s.ID)
		case len(told) == 0:
			continue
		case s.IsOpen():
			told = append(told, "what followed is neither in the pdu logs nor in the events")
		}
		lines = append(lines, s.ID+": "+strings.Join(told, "; "))
	}
	if more := len(found.Stories) - mostFates; more > 0 {
		lines = append(lines, fmt.Sprintf("%d more messages: pmg trace ID tells of one", more))
	}
	return lines
}
