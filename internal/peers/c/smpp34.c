/* The C library libsmpp34, which packs and unpacks PDUs, as a client: smpp34 client HOST:PORT.
 * It takes requests of the tests, one line of JSON each, and prints the events that answer them.
 *
 *	cc -o bin/smpp34 smpp34.c -lsmpp34
 */
#include <arpa/inet.h>
#include <errno.h>
#include <iconv.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libsmpp34/smpp34.h>
#include <libsmpp34/smpp34_structs.h>
#include <libsmpp34/smpp34_params.h>

static int conn = -1;
static const char *address;
static uint32_t sequence;
static int asked[1 << 16]; /* requests by sequence number */

/* text returns the string of a key of a request, without the escapes that the tests use. */
static char *text(const char *line, const char *key, char *out, size_t size) {
	char quoted[32];
	size_t n = 0;
	snprintf(quoted, sizeof quoted, "\"%s\":\"", key);
	const char *p = strstr(line, quoted);
	for (p = p ? p + strlen(quoted) : "\""; *p && *p != '"' && n + 1 < size; p++) {
		if (*p == '\\')
			p++;
		out[n++] = *p;
	}
	out[n] = 0;
	return out;
}

/* number returns the number of a key of a request. */
static int number(const char *line, const char *key) {
	char quoted[32];
	snprintf(quoted, sizeof quoted, "\"%s\":", key);
	const char *p = strstr(line, quoted);
	return p ? atoi(p + strlen(quoted)) : 0;
}

/* emit prints an event. */
static void emit(const char *format, ...) {
	va_list args;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

/* octets makes octets of hexadecimal digits, and returns how many. */
static int octets(const char *digits, uint8_t *out) {
	int n = 0;
	for (unsigned octet; sscanf(digits, "%2x", &octet) == 1 && digits[1]; digits += 2)
		out[n++] = octet;
	return n;
}

/* convert converts a text, and returns the octets that it takes. */
static int convert(const char *to, const char *from, char *in, size_t length, char *out, size_t size) {
	iconv_t c = iconv_open(to, from);
	char *end = out;
	iconv(c, &in, &length, &end, &size);
	iconv_close(c);
	return end - out;
}

/* content returns the octets of a message's text. The library leaves that to its callers. */
static int content(const char *line, uint8_t *out) {
	char digits[2048], body[1024];
	int n = octets(text(line, "udh", digits, sizeof digits), out);
	text(line, "octets", digits, sizeof digits);
	if (*digits)
		return n + octets(digits, out + n);
	text(line, "text", body, sizeof body);
	if (number(line, "coding") == 8)
		return n + convert("UTF-16BE", "UTF-8", body, strlen(body), (char *)out + n, 500);
	memcpy(out + n, body, strlen(body));
	return n + strlen(body);
}

/* optional adds an optional parameter. */
static void optional(tlv_t **list, int tag, const uint8_t *value, int length) {
	tlv_t one;
	memset(&one, 0, sizeof one);
	one.tag = tag;
	one.length = length;
	memcpy(one.value.octet, value, length);
	build_tlv(list, &one);
}

/* send_pdu sends a PDU, which is a struct of the library. */
static void send_pdu(void *pdu) {
	uint8_t b[4096];
	int length = 0;
	if (smpp34_pack2(b, sizeof b, &length, pdu) != 0 || write(conn, b, length) != length)
		fprintf(stderr, "cannot send: %s\n", smpp34_strerror);
}

/* begin gives a PDU its command, and notes which request it is for. */
#define begin(pdu, id, n) \
	memset(&pdu, 0, sizeof pdu); \
	pdu.command_id = id; \
	pdu.sequence_number = ++sequence; \
	asked[sequence & 0xFFFF] = n

static void bind_session(const char *line) {
	static const struct { const char *name; uint32_t id; } kinds[] = {
		{"transceiver", BIND_TRANSCEIVER}, {"transmitter", BIND_TRANSMITTER}, {"receiver", BIND_RECEIVER}};
	bind_transceiver_t p; /* all three are alike */
	char kind[16], host[32];
	begin(p, 0, number(line, "n"));
	text(line, "kind", kind, sizeof kind);
	for (int i = 0; i < 3; i++)
		if (strcmp(kind, kinds[i].name) == 0)
			p.command_id = kinds[i].id;
	text(line, "name", (char *)p.system_id, sizeof p.system_id);
	text(line, "password", (char *)p.password, sizeof p.password);
	p.interface_version = number(line, "version");
	struct sockaddr_in to = {.sin_family = AF_INET};
	const char *colon = strchr(address, ':');
	snprintf(host, sizeof host, "%.*s", (int)(colon - address), address);
	inet_pton(AF_INET, host, &to.sin_addr);
	to.sin_port = htons(atoi(colon + 1));
	conn = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(conn, (struct sockaddr *)&to, sizeof to) != 0)
		perror("connect");
	send_pdu(&p);
}

static void submit(const char *line) {
	submit_sm_t p;
	uint8_t b[2048], value[16];
	char digits[64];
	begin(p, SUBMIT_SM, number(line, "n"));
	p.source_addr_ton = p.source_addr_npi = p.dest_addr_ton = p.dest_addr_npi = 1;
	text(line, "from", (char *)p.source_addr, sizeof p.source_addr);
	text(line, "to", (char *)p.destination_addr, sizeof p.destination_addr);
	text(line, "validity", (char *)p.validity_period, sizeof p.validity_period);
	p.esm_class = number(line, "class");
	p.data_coding = number(line, "coding");
	p.registered_delivery = number(line, "registered");
	int length = content(line, b);
	if (strstr(line, "\"payload\":true"))
		optional(&p.tlv, TLVID_message_payload, b, length);
	else {
		p.sm_length = length;
		memcpy(p.short_message, b, length);
	}
	if (*text(line, "1400", digits, sizeof digits))
		optional(&p.tlv, 0x1400, value, octets(digits, value));
	send_pdu(&p);
	destroy_tlv(p.tlv);
}

static void data(const char *line) {
	data_sm_t p;
	uint8_t b[2048];
	begin(p, DATA_SM, number(line, "n"));
	text(line, "from", (char *)p.source_addr, sizeof p.source_addr);
	text(line, "to", (char *)p.destination_addr, sizeof p.destination_addr);
	optional(&p.tlv, TLVID_message_payload, b, content(line, b));
	send_pdu(&p);
	destroy_tlv(p.tlv);
}

static void multi(const char *line) {
	submit_multi_t p;
	begin(p, SUBMIT_MULTI, number(line, "n"));
	text(line, "from", (char *)p.source_addr, sizeof p.source_addr);
	p.sm_length = content(line, p.short_message);
	const char *many = strstr(line, "\"many\":[");
	for (many = many ? many + 8 : ""; *many == '"'; many += *many == ',') {
		dad_t to;
		memset(&to, 0, sizeof to);
		to.dest_flag = 1;
		to.value.sme.dest_addr_ton = to.value.sme.dest_addr_npi = 1;
		size_t length = strcspn(++many, "\"");
		memcpy(to.value.sme.destination_addr, many, length);
		build_dad(&p.dest_addr_def, &to);
		p.number_of_dests++;
		many += length + 1;
	}
	send_pdu(&p);
	destroy_dad(p.dest_addr_def);
}

static void operate(const char *line, const char *what) {
	if (strcmp(what, "query") == 0) {
		query_sm_t p;
		begin(p, QUERY_SM, number(line, "n"));
		text(line, "id", (char *)p.message_id, sizeof p.message_id);
		text(line, "from", (char *)p.source_addr, sizeof p.source_addr);
		send_pdu(&p);
	} else if (strcmp(what, "cancel") == 0) {
		cancel_sm_t p;
		begin(p, CANCEL_SM, number(line, "n"));
		text(line, "id", (char *)p.message_id, sizeof p.message_id);
		text(line, "from", (char *)p.source_addr, sizeof p.source_addr);
		text(line, "to", (char *)p.destination_addr, sizeof p.destination_addr);
		send_pdu(&p);
	} else {
		replace_sm_t p;
		begin(p, REPLACE_SM, number(line, "n"));
		text(line, "id", (char *)p.message_id, sizeof p.message_id);
		text(line, "from", (char *)p.source_addr, sizeof p.source_addr);
		p.sm_length = content(line, p.short_message);
		send_pdu(&p);
	}
}

static void request(const char *line) {
	char what[16];
	text(line, "do", what, sizeof what);
	if (strcmp(what, "bind") == 0)
		bind_session(line);
	else if (strcmp(what, "submit") == 0)
		submit(line);
	else if (strcmp(what, "data") == 0)
		data(line);
	else if (strcmp(what, "multi") == 0)
		multi(line);
	else if (strcmp(what, "enquire") == 0 || strcmp(what, "unbind") == 0) {
		enquire_link_t p; /* both have a header alone */
		begin(p, *what == 'e' ? ENQUIRE_LINK : UNBIND, number(line, "n"));
		send_pdu(&p);
	} else
		operate(line, what);
}

/* respond answers a delivery or a request without fields. */
static void respond(uint32_t id, uint32_t seq) {
	deliver_sm_resp_t p;
	memset(&p, 0, sizeof p);
	p.command_id = id | 0x80000000;
	p.sequence_number = seq;
	send_pdu(&p);
}

/* deliver reports a message. */
static void deliver(const char *from, const char *to, int class, int coding, uint8_t *b, int length, tlv_t *list) {
	char body[4096];
	for (tlv_t *one = list; one && length == 0; one = one->next)
		if (one->tag == TLVID_message_payload)
			b = one->value.octet, length = one->length;
	int header = class & 0x40 ? b[0] + 1 : 0;
	int n = convert("UTF-8", coding == 8 ? "UTF-16BE" : "LATIN1", (char *)b + header, length - header, body, sizeof body - 1);
	body[n] = 0;
	emit("{\"event\":\"deliver\",\"from\":\"%s\",\"to\":\"%s\",\"class\":%d,\"coding\":%d,\"text\":\"%s\"}", from, to, class, coding, body);
}

/* take handles a PDU. */
static void take(uint8_t *b, int length) {
	uint32_t id, status, seq;
	memcpy(&id, b + 4, 4), memcpy(&status, b + 8, 4), memcpy(&seq, b + 12, 4);
	id = ntohl(id), status = ntohl(status), seq = ntohl(seq);
	static union { deliver_sm_t deliver; data_sm_t data; submit_sm_resp_t submit; data_sm_resp_t sent; submit_multi_resp_t multi; query_sm_resp_t query; enquire_link_t any; uint8_t room[8192]; } p;
	memset(&p, 0, sizeof p);
	if (length > 16 && smpp34_unpack2(&p, b, length) != 0) {
		fprintf(stderr, "cannot unpack %08x: %s\n", id, smpp34_strerror);
		return;
	}
	const char *message = "";
	int state = 0;
	switch (id) {
	case DELIVER_SM:
		respond(id, seq);
		deliver((char *)p.deliver.source_addr, (char *)p.deliver.destination_addr, p.deliver.esm_class, p.deliver.data_coding, p.deliver.short_message, p.deliver.sm_length, p.deliver.tlv);
		return;
	case DATA_SM:
		respond(id, seq);
		deliver((char *)p.data.source_addr, (char *)p.data.destination_addr, p.data.esm_class, p.data.data_coding, NULL, 0, p.data.tlv);
		return;
	case ENQUIRE_LINK: {
		enquire_link_t answer = {.command_id = ENQUIRE_LINK_RESP, .sequence_number = seq};
		send_pdu(&answer);
		return;
	}
	case SUBMIT_SM_RESP:
	case DATA_SM_RESP:
	case SUBMIT_MULTI_RESP:
		message = (char *)p.submit.message_id; /* the first field of all three */
		break;
	case QUERY_SM_RESP:
		message = (char *)p.query.message_id, state = p.query.message_state;
	}
	emit("{\"event\":\"done\",\"n\":%d,\"status\":%u,\"id\":\"%s\",\"state\":%d}", asked[seq & 0xFFFF], status, message, state);
}

int main(int argc, char **argv) {
	static char line[1 << 20];
	static uint8_t in[1 << 20];
	size_t lines = 0, length = 0;
	if (argc < 3)
		return 2;
	address = argv[2];
	for (;;) {
		struct pollfd fds[2] = {{0, POLLIN, 0}, {conn, POLLIN, 0}};
		poll(fds, conn < 0 ? 1 : 2, -1);
		if (fds[0].revents) {
			ssize_t n = read(0, line + lines, sizeof line - lines - 1);
			if (n <= 0)
				return 0;
			lines += n;
			line[lines] = 0;
			for (char *end; (end = memchr(line, '\n', lines));) {
				*end = 0;
				request(line);
				lines -= end + 1 - line;
				memmove(line, end + 1, lines + 1);
			}
		}
		if (conn >= 0 && fds[1].revents) {
			ssize_t n = read(conn, in + length, sizeof in - length);
			if (n <= 0) {
				close(conn);
				conn = -1;
				continue;
			}
			length += n;
			for (uint32_t size; length >= 4; length -= size, memmove(in, in + size, length)) {
				memcpy(&size, in, 4);
				if ((size = ntohl(size)) > length || size < 16)
					break;
				take(in, size);
			}
		}
	}
}
