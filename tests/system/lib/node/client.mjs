// What the scripts here share: modules of npm from where the test says, and a client.
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const { CANOPY_NODE_MODULES, ENDPOINT } = process.env;
const require = createRequire(path.join(CANOPY_NODE_MODULES, "..", "anchor.js"));

export const load = (name) => import(pathToFileURL(require.resolve(name)));
export const { default: aws } = await load("@aws-sdk/client-sqs");

export const client = new aws.SQSClient({
  endpoint: ENDPOINT,
  region: "eu-west-1",
  credentials: { accessKeyId: "x", secretAccessKey: "x" },
  maxAttempts: 1,
});

export const call = (action, members = {}) => client.send(new aws[`${action}Command`](members));

export const createQueue = async (QueueName, Attributes = {}) =>
  (await call("CreateQueue", { QueueName, Attributes })).QueueUrl;

export const count = async (QueueUrl, name = "") => {
  const attribute = `ApproximateNumberOfMessages${name}`;
  const { Attributes } = await call("GetQueueAttributes", {
    QueueUrl,
    AttributeNames: [attribute],
  });
  return Number(Attributes[attribute]);
};
