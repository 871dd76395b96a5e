// @aws-sdk/client-sqs: it checks MD5 sums itself, and posts to the URL of the queue.
import assert from "node:assert/strict";
import { aws, call, count, createQueue } from "./client.mjs";

const body = "zażółć 🎈 \r\n\t&quot;]]>";
const MessageAttributes = {
  text: { DataType: "String.x", StringValue: "ä & <" },
  bytes: { DataType: "Binary", BinaryValue: Uint8Array.from([0, 1, 255]) },
};

async function standardQueue() {
  const QueueUrl = await createQueue("sdk", { VisibilityTimeout: "60" });
  assert.match(QueueUrl, /^http:\/\/127\.0\.0\.1:\d+\/000000000000\/sdk$/);
  assert.deepEqual((await call("ListQueues", { QueueNamePrefix: "sdk" })).QueueUrls, [QueueUrl]);
  assert.equal((await call("ListQueues", { QueueNamePrefix: "none" })).QueueUrls, undefined);
  await call("SendMessage", { QueueUrl, MessageBody: body, MessageAttributes });
  const { Messages } = await call("ReceiveMessage", {
    QueueUrl,
    MessageAttributeNames: ["All"],
    MessageSystemAttributeNames: ["All"],
    WaitTimeSeconds: 5,
  });
  const [message] = Messages;
  assert.equal(message.Body, body);
  assert.equal(message.MessageAttributes.text.StringValue, "ä & <");
  assert.deepEqual([...message.MessageAttributes.bytes.BinaryValue], [0, 1, 255]);
  assert.equal(message.Attributes.ApproximateReceiveCount, "1");
  const { ReceiptHandle } = message;
  await call("ChangeMessageVisibility", { QueueUrl, ReceiptHandle, VisibilityTimeout: 0 });
  assert.equal(await count(QueueUrl), 1);
  await call("PurgeQueue", { QueueUrl });
  assert.equal((await call("ReceiveMessage", { QueueUrl })).Messages, undefined);
}

async function batches() {
  const QueueUrl = await createQueue("sdk-batches");
  const Entries = ["a", "b"].map((Id) => ({ Id, MessageBody: Id }));
  const sent = await call("SendMessageBatch", {
    QueueUrl,
    Entries: [...Entries, { Id: "c", MessageBody: "c", DelaySeconds: 901 }],
  });
  assert.deepEqual(sent.Successful.map((entry) => entry.Id), ["a", "b"]);
  assert.deepEqual(sent.Failed.map(({ Id, Code }) => [Id, Code]), [["c", "InvalidParameterValue"]]);
  const { Messages } = await call("ReceiveMessage", { QueueUrl, MaxNumberOfMessages: 10 });
  const deleted = await call("DeleteMessageBatch", {
    QueueUrl,
    Entries: Messages.map(({ ReceiptHandle }, i) => ({ Id: `${i}`, ReceiptHandle })),
  });
  assert.equal(deleted.Successful.length, 2);
  assert.equal(deleted.Failed, undefined);
  assert.equal(await count(QueueUrl, "NotVisible"), 0);
}

async function fifoQueue() {
  const QueueUrl = await createQueue("sdk.fifo", {
    FifoQueue: "true",
    ContentBasedDeduplication: "true",
  });
  const send = () => call("SendMessage", { QueueUrl, MessageBody: "m", MessageGroupId: "g" });
  const [first, second] = [await send(), await send()];
  assert.match(first.SequenceNumber, /^\d{20}$/);
  assert.equal(first.MessageId, second.MessageId);
  assert.equal(await count(QueueUrl), 1);
}

async function errors() {
  await assert.rejects(call("GetQueueUrl", { QueueName: "none" }), (error) => {
    assert.ok(error instanceof aws.QueueDoesNotExist);
    assert.equal(error.name, "QueueDoesNotExist");
    assert.equal(error.message, "The specified queue does not exist.");
    assert.equal(error.$metadata.httpStatusCode, 400);
    assert.equal(error.Code, "AWS.SimpleQueueService.NonExistentQueue");
    assert.match(error.$metadata.requestId, /^[0-9a-f-]{36}$/);
    return true;
  });
  const QueueUrl = await createQueue("sdk-errors");
  await assert.rejects(
    call("DeleteMessage", { QueueUrl, ReceiptHandle: "garbage" }),
    aws.ReceiptHandleIsInvalid,
  );
}

for (const scenario of [standardQueue, batches, fifoQueue, errors]) await scenario();
