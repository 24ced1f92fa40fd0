// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Watches the queues of interfaces: when packets begin to wait too long, or too many of them, an episode begins. Its
 * packets are counted, and the first of them are told, so that it is known whose they are. The programs only look: no
 * packet is changed, kept or dropped because of them.
 *
 *	qdisc_enqueue -> no rule by time for this queue: end
 *			 the time at which the packet enters
 *	qdisc_dequeue -> no packet, or no rule for this queue: end
 *			 each packet that leaves: over the trigger: an episode begins; counted, told within the quota
 *						  below the reset: the episode ends
 *			 nothing is left in the queue: the episode ends
 */
#include "kernel/kernel.h"
#include "hostint/queue.h"
#include "queue/entered.h"
#include "queue/episode.h"
#include "queue/qdisc.h"
#include "queue/states.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/* Runs behind the queue's own work; since 5.15. Packets that the queue does not take are not seen. */
SEC("tp_btf/qdisc_enqueue")
int queue_in(__u64 *ctx)
{
	struct Qdisc *sch = (struct Qdisc *)ctx[0];
	const struct queue_rule *rule;
	struct queue_state *state;
	struct queue_key key;

	rule = rule_of(sch, &key);
	if (!rule || rule->measure != QUEUE_BY_TIME)
		return 0;
	state = state_of(&key);
	if (state)
		note_entry(state, sch, ctx[2], bpf_ktime_get_ns());
	return 0;
}

/* A packet that the driver did not take goes back, and comes again before all others. */
static __always_inline bool comes_again(struct queue_state *state, struct Qdisc *sch)
{
	__u32 requeues = sch->qstats.requeues;

	state->requeued += requeues - state->requeues;
	state->requeues = requeues;
	if (!state->requeued)
		return false;
	state->requeued--;
	return true;
}

/* Another queueing discipline than before has other counts, and begins anew. */
static __always_inline void follow_qdisc(const struct queue_key *key, struct queue_state *state, struct Qdisc *sch)
{
	if (state->qdisc == (__u64)sch)
		return;
	state->drops_before = state->now_drops - state->episode.drops;
	state->left_drops = state->now_drops;
	if (is_over_trigger(state))
		end_episode(key, state, state->left_ns);
	state->qdisc = (__u64)sch;
	state->requeues = sch->qstats.requeues;
	state->requeued = 0;
}

/* Judges one of the packets that leave. */
__noinline int leave_queue(__u32 ifindex, __u32 queue)
{
	struct queue_key key = { .ifindex = ifindex, .queue = queue };
	struct queue_state *state = bpf_map_lookup_elem(&queue_states, &key);
	__u64 packet, since;
	__u32 bytes;

	if (!state)
		return 0;
	packet = state->now_packet;
	bytes = BPF_CORE_READ((struct sk_buff *)packet, len);
	state->packets++;
	state->bytes += bytes;
	if (state->rule.measure == QUEUE_BY_BYTES) {
		if (state->is_by_cpu)
			count_queue(COUNT_QUEUE_NO_BACKLOG, 1, bytes);
		else
			judge_packet(&key, state, packet, bytes, state->now_bytes);
		return 0;
	}
	since = entered_at(state, packet);
	if (!since || since > state->now_ns) {
		count_queue(COUNT_QUEUE_UNTIMED, 1, bytes);
		return 0;
	}
	/* A queue without a lock does not tell when it is empty; nothing left it for long, and then this packet came. */
	if (state->is_by_cpu && is_over_trigger(state) && since > state->left_ns + state->rule.trigger)
		end_episode(&key, state, state->left_ns);
	judge_packet(&key, state, packet, bytes, state->now_ns - since);
	return 0;
}

/* Notes the queue behind the packets that leave, which are a list. */
static __always_inline void note_now(struct queue_state *state, struct Qdisc *sch, struct sk_buff *skb, __u32 packets)
{
	state->now_ns = bpf_ktime_get_ns();
	state->now_drops = sch->qstats.drops;
	state->handle = sch->handle;
	state->is_by_cpu = counts_by_cpu(sch);
	state->now_packets = 0;
	state->now_bytes = 0;
	if (state->is_by_cpu)
		return;
	state->now_packets = sch->q.qlen + packets;
	state->now_bytes = sch->qstats.backlog;
	for (int i = 0; i < QUEUE_BULK && skb; i++) {
		state->now_bytes += skb->len;
		skb = skb->next;
	}
}

/*
 * Runs behind the queue's own work, also when it gave nothing: the verifier takes the packet for present, its head is
 * then 0. Packets that leave at once are a list.
 */
SEC("tp_btf/qdisc_dequeue")
int queue_out(__u64 *ctx)
{
	struct Qdisc *sch = (struct Qdisc *)ctx[0];
	struct sk_buff *skb = (struct sk_buff *)ctx[3];
	const struct queue_rule *rule;
	struct queue_state *state;
	__u32 packets = ctx[2];
	struct queue_key key;

	if (!skb || !skb->head)
		return 0;
	rule = rule_of(sch, &key);
	if (!rule)
		return 0;
	state = state_of(&key);
	if (!state)
		return 0;
	state->rule = *rule;
	note_now(state, sch, skb, packets);
	follow_qdisc(&key, state, sch);
	if (comes_again(state, sch))
		return 0;
	for (int i = 0; i < QUEUE_BULK && skb; i++) {
		state->now_packet = (__u64)skb;
		leave_queue(key.ifindex, key.queue);
		skb = skb->next;
	}
	if (packets > QUEUE_BULK)
		count_queue(COUNT_QUEUE_BEYOND, packets - QUEUE_BULK, 0);
	state->left_ns = state->now_ns;
	state->left_drops = state->now_drops;
	if (state->is_by_cpu || sch->q.qlen)
		return 0;
	state->busy++;
	if (is_over_trigger(state))
		end_episode(&key, state, state->now_ns);
	return 0;
}
