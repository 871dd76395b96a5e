// sqs-producer: more messages than a batch holds, and a batch of which an entry is refused.
import assert from "node:assert/strict";
import { call, client, createQueue, load } from "./client.mjs";

const { Producer } = await load("sqs-producer");

const queueUrl = await createQueue("producer");
const producer = Producer.create({ queueUrl, sqs: client });
const bodies = [...Array(23).keys()].map((n) => `message ${n}`);
const sent = await producer.send(bodies.map((body, n) => ({ id: `${n}`, body })));
assert.equal(sent.length, bodies.length);
assert.equal(await producer.queueSize(), bodies.length);

const received = [];
while (received.length < bodies.length) {
  const asked = { QueueUrl: queueUrl, MaxNumberOfMessages: 10 };
  const { Messages } = await call("ReceiveMessage", asked);
  received.push(...Messages.map((message) => message.Body));
}
assert.deepEqual(received.sort(), bodies.sort());

await assert.rejects(
  producer.send(["fine", { id: "late", body: "x", delaySeconds: 900, groupId: "with space" }]),
  /Failed to send messages: late/,
);

const fifo = Producer.create({
  queueUrl: await createQueue("producer.fifo", { FifoQueue: "true" }),
  sqs: client,
});
await fifo.send({ id: "1", body: "b", groupId: "g", deduplicationId: "d" });
await fifo.send({ id: "1", body: "b", groupId: "g", deduplicationId: "d" });
assert.equal(await fifo.queueSize(), 1);
