package main

import "fmt"

// exitGivenUp is the exit status of a gateway that was stopped and has not sent every
// message that it accepted: EX_TEMPFAIL of sysexits.h.
const exitGivenUp = 75

// givenUp returns an error if the gateway has stopped with accepted messages that were
// not sent.
func (s *server) givenUp() error {
	queued, scheduled := s.gateway.Pending(), s.gateway.Scheduled()
	if queued+scheduled == 0 {
		return nil
	}
	if s.gateway.Durable() {
		s.log.Info().Int64("queued", queued).Int64("scheduled", scheduled).Msg("messages that wait stay in the store; the next start sends them")
		return nil
	}
	s.log.Error().Int64("queued", queued).Int64("scheduled", scheduled).
		Msg("stopped with messages that were accepted and not sent; the memory store forgets them")
	return exitError{fmt.Errorf("cannot send %d accepted messages before the end, %d of them scheduled for later: they are given up", queued+scheduled, scheduled), exitGivenUp}
}
