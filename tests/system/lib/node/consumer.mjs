// sqs-consumer: batches, heartbeats, a handler that fails first, and a stop.
import assert from "node:assert/strict";
import { once } from "node:events";
import { call, client, count, createQueue, load } from "./client.mjs";

const { Consumer } = await load("sqs-consumer");

// Consumes until `wanted` messages have been handled; gives the bodies in their order.
async function consume(options, wanted) {
  const handled = [];
  const consumer = Consumer.create({
    sqs: client,
    waitTimeSeconds: 5,
    messageSystemAttributeNames: ["All"],
    suppressFifoWarning: true,
    ...options(handled),
  });
  const failures = [];
  consumer.on("error", (error) => failures.push(error));
  const done = new Promise((resolve) => {
    consumer.on("message_processed", () => handled.length >= wanted && resolve());
    consumer.on("response_processed", () => handled.length >= wanted && resolve());
  });
  consumer.start();
  await done;
  const stopped = once(consumer, "stopped");
  consumer.stop({ abort: true });
  await stopped;
  assert.deepEqual(failures, []);
  return handled;
}

async function oneByOneWithARetry() {
  const queueUrl = await createQueue("consumer");
  await call("SendMessage", { QueueUrl: queueUrl, MessageBody: "poison once" });
  let attempts = 0;
  const counts = await consume(
    (handled) => ({
      queueUrl,
      terminateVisibilityTimeout: true,
      visibilityTimeout: 60,
      heartbeatInterval: 1,
      handleMessage: async (message) => {
        if (++attempts === 1) throw new Error("not yet");
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        handled.push(message.Attributes.ApproximateReceiveCount);
        return message;
      },
    }),
    1,
  );
  assert.deepEqual(counts, ["2"]);
  assert.equal(await count(queueUrl), 0);
  assert.equal(await count(queueUrl, "NotVisible"), 0);
}

async function batchesInOrder() {
  const queueUrl = await createQueue("consumer.fifo", {
    FifoQueue: "true",
    ContentBasedDeduplication: "true",
  });
  const numbers = [...Array(25).keys()];
  for (const n of numbers)
    await call("SendMessage", { QueueUrl: queueUrl, MessageBody: `${n}`, MessageGroupId: "g" });
  const bodies = await consume(
    (handled) => ({
      queueUrl,
      batchSize: 10,
      handleMessageBatch: async (messages) => {
        handled.push(...messages.map((message) => Number(message.Body)));
        return messages;
      },
    }),
    numbers.length,
  );
  assert.deepEqual(bodies, numbers);
  assert.equal(await count(queueUrl, "NotVisible"), 0);
}

await oneByOneWithARetry();
await batchesInOrder();
