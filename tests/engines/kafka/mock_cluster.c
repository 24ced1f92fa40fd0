/* librdkafka's mock cluster: real sockets and Kafka's protocol, in memory, with the faults that it is told.
 *
 * mock_cluster BROKERS TOPIC:PARTITIONS...
 *
 * Prints the addresses of the brokers, then obeys lines on standard input, each answered by "ok"; ends with it. */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRODUCE 0
#define MOST_ERRORS 1000

static rd_kafka_mock_cluster_t *cluster;

static int create(char *topic)
{
	char *partitions = strchr(topic, ':');

	if (!partitions)
		return -1;
	*partitions++ = '\0';
	return rd_kafka_mock_topic_create(cluster, topic, atoi(partitions), 1);
}

/* The next so many answers to Produce are this error. */
static int push_errors(int error, int count)
{
	rd_kafka_resp_err_t errors[MOST_ERRORS];

	if (count < 0 || count > MOST_ERRORS)
		return -1;
	for (int i = 0; i < count; i++)
		errors[i] = error;
	rd_kafka_mock_push_request_errors_array(cluster, PRODUCE, count, errors);
	return 0;
}

static int obey(const char *line)
{
	char topic[256];
	int a, b;

	if (sscanf(line, "down %d", &a) == 1)
		return rd_kafka_mock_broker_set_down(cluster, a);
	if (sscanf(line, "up %d", &a) == 1)
		return rd_kafka_mock_broker_set_up(cluster, a);
	if (sscanf(line, "rtt %d %d", &a, &b) == 2)
		return rd_kafka_mock_broker_set_rtt(cluster, a, b);
	if (sscanf(line, "error %d %d", &a, &b) == 2)
		return push_errors(a, b);
	if (sscanf(line, "leader %255s %d %d", topic, &a, &b) == 3)
		return rd_kafka_mock_partition_set_leader(cluster, topic, a, b);
	if (sscanf(line, "create %255s", topic) == 1)
		return create(topic);
	return -1;
}

int main(int argc, char **argv)
{
	char line[512], why[512];
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_t *client;

	/* Not that it has no brokers of its own. */
	rd_kafka_conf_set(conf, "log_level", "3", why, sizeof(why));
	client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof(why));
	if (argc < 2 || !client)
		return 2;
	cluster = rd_kafka_mock_cluster_new(client, atoi(argv[1]));
	if (!cluster)
		return 1;
	for (int i = 2; i < argc; i++)
		if (create(argv[i]))
			return 1;
	puts(rd_kafka_mock_cluster_bootstraps(cluster));
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		puts(obey(line) ? "error" : "ok");
		fflush(stdout);
	}
	rd_kafka_mock_cluster_destroy(cluster);
	rd_kafka_destroy(client);
	return 0;
}
