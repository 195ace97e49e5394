package httpload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// maxAnswer is how much is read of an answer, in octets.
const maxAnswer = 64 << 10

// single sends messages one by one, over one connection.
func (r *run) single() {
	t := &http.Transport{MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1, DisableCompression: true}
	defer t.CloseIdleConnections()
	c := &http.Client{Transport: t, Timeout: r.Timeout}
	for {
		n, planned, ok := r.take()
		if !ok {
			return
		}
		body := r.body(n)
		for {
			status, id, err := r.post(c, n, body)
			if err != nil && r.Reconnect == 0 {
				r.lost.Add(1)
				return
			}
			pause, counted := r.Reconnect, &r.again
			if err == nil {
				if !r.count(n, status, id, planned) {
					break
				}
				pause, counted = r.Retry, &r.resent
			}
			if !r.pause(pause) { // the load ends: it is not sent again, and stays as it is
				break
			}
			counted.Add(1)
		}
	}
}

// post sends the message with a number, and returns the status of the answer and the id of the message.
func (r *run) post(c *http.Client, n int64, body []byte) (status int, id string, err error) {
	req, err := http.NewRequest(http.MethodPost, r.url+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.SetBasicAuth(r.SystemID, r.Password)
	req.Header.Set("Content-Type", "application/json")
	if r.Way == Keyed {
		req.Header.Set("Idempotency-Key", fmt.Sprintf("load-%d-%012d", r.began.UnixNano(), n))
	}
	r.sent.Add(1)
	answer, err := c.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return 0, "", err
	}
	var message struct{ ID string }
	if answer.StatusCode == http.StatusAccepted {
		err = json.Unmarshal(text, &message)
	}
	return answer.StatusCode, message.ID, err
}
