// SPDX-License-Identifier: Apache-2.0
// A client of the inference service that is written with grpc-go. It makes one check, and ends with
// 0 when the answers are right; otherwise it says what is wrong.
//
//	inference_client HOST:PORT CHECK
//
// The server needs the model "echo": FP32 of any length, INPUT0 comes back as OUTPUT0.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/status"

	"nereid/conformance/inference"
)

const (
	deadline       = 20 * time.Second
	largeElements  = 4 << 20 // 16 MiB, more than any flow-control window
	largestMessage = 64 << 20
	streamRequests = 3
)

// check makes its calls and returns what is wrong.
type check func(context.Context, inference.GRPCInferenceServiceClient) error

var checks = map[string]check{
	"ready":         checkReady,
	"infer":         checkInfer,
	"gzip":          checkGzip,
	"large":         checkLarge,
	"stream":        checkStream,
	"unknown_model": checkUnknownModel,
	"cancel":        checkCancel,
}

func main() {
	if len(os.Args) != 3 || checks[os.Args[2]] == nil {
		fmt.Fprintln(os.Stderr, "usage: inference_client HOST:PORT CHECK")
		os.Exit(2)
	}
	if err := run(os.Args[1], checks[os.Args[2]]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[2], err)
		os.Exit(1)
	}
}

func run(address string, check check) error {
	connection, err := grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(largestMessage),
			grpc.MaxCallSendMsgSize(largestMessage)))
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	return check(ctx, inference.NewGRPCInferenceServiceClient(connection))
}

// rawBytes are the values as raw tensor contents: little-endian.
func rawBytes(values []float32) []byte {
	raw := make([]byte, 0, 4*len(values))
	for _, value := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(value))
	}
	return raw
}

func request(id string, values []float32) *inference.ModelInferRequest {
	return &inference.ModelInferRequest{
		ModelName: "echo",
		Id:        id,
		Inputs: []*inference.ModelInferRequest_InferInputTensor{
			{Name: "INPUT0", Datatype: "FP32", Shape: []int64{int64(len(values))}},
		},
		RawInputContents: [][]byte{rawBytes(values)},
	}
}

// wrong says what is wrong with the response to request(id, values); nil: nothing.
func wrong(response *inference.ModelInferResponse, id string, values []float32) error {
	switch {
	case response.GetModelName() != "echo" || response.GetId() != id:
		return fmt.Errorf("response of model %q to request %q, not of echo to %q",
			response.GetModelName(), response.GetId(), id)
	case len(response.GetOutputs()) != 1 || len(response.GetRawOutputContents()) != 1:
		return fmt.Errorf("%d outputs with %d raw contents, expected one of each",
			len(response.GetOutputs()), len(response.GetRawOutputContents()))
	}
	output := response.Outputs[0]
	if output.GetName() != "OUTPUT0" || output.GetDatatype() != "FP32" ||
		!slices.Equal(output.GetShape(), []int64{int64(len(values))}) {
		return fmt.Errorf("the output is %v", output)
	}
	if !bytes.Equal(response.RawOutputContents[0], rawBytes(values)) {
		return fmt.Errorf("the values did not come back as they were sent")
	}
	return nil
}

func checkReady(ctx context.Context, client inference.GRPCInferenceServiceClient) error {
	live, err := client.ServerLive(ctx, &inference.ServerLiveRequest{})
	if err != nil || !live.GetLive() {
		return fmt.Errorf("ServerLive: %v, error %v", live, err)
	}
	ready, err := client.ServerReady(ctx, &inference.ServerReadyRequest{})
	if err != nil || !ready.GetReady() {
		return fmt.Errorf("ServerReady: %v, error %v", ready, err)
	}
	return nil
}

func inferWith(ctx context.Context, client inference.GRPCInferenceServiceClient, values []float32,
	options ...grpc.CallOption) error {
	response, err := client.ModelInfer(ctx, request("go", values), options...)
	if err != nil {
		return err
	}
	return wrong(response, "go", values)
}

func checkInfer(ctx context.Context, client inference.GRPCInferenceServiceClient) error {
	return inferWith(ctx, client, []float32{1.5, -2, float32(math.Inf(1))})
}

// checkGzip compresses the request; the server chooses how it answers.
func checkGzip(ctx context.Context, client inference.GRPCInferenceServiceClient) error {
	return inferWith(ctx, client, make([]float32, 10_000), grpc.UseCompressor(gzip.Name))
}

func checkLarge(ctx context.Context, client inference.GRPCInferenceServiceClient) error {
	values := make([]float32, largeElements)
	for i := range values {
		values[i] = float32(i)
	}
	return inferWith(ctx, client, values)
}

// checkStream sends all requests before it reads, and expects as many responses in their order.
func checkStream(ctx context.Context, client inference.GRPCInferenceServiceClient) error {
	stream, err := client.ModelStreamInfer(ctx)
	if err != nil {
		return err
	}
	for i := range streamRequests {
		if err := stream.Send(request(fmt.Sprint(i), []float32{float32(i)})); err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	for i := range streamRequests {
		response, err := stream.Recv()
		if err != nil {
			return fmt.Errorf("response %d: %w", i, err)
		}
		if response.GetErrorMessage() != "" {
			return fmt.Errorf("response %d: %s", i, response.GetErrorMessage())
		}
		if err := wrong(response.GetInferResponse(), fmt.Sprint(i), []float32{float32(i)}); err != nil {
			return fmt.Errorf("response %d: %w", i, err)
		}
	}
	if _, err := stream.Recv(); err != io.EOF {
		return fmt.Errorf("after the last response: %v, expected the end of the stream", err)
	}
	return nil
}

func checkUnknownModel(ctx context.Context, client inference.GRPCInferenceServiceClient) error {
	_, err := client.ModelInfer(ctx, &inference.ModelInferRequest{ModelName: "nobody"})
	if status.Code(err) != codes.NotFound ||
		!strings.Contains(status.Convert(err).Message(), "'nobody'") {
		return fmt.Errorf("got %v, expected NOT_FOUND that names 'nobody'", err)
	}
	return nil
}

// checkCancel leaves a stream open, cancels it, and expects that the connection still serves.
func checkCancel(ctx context.Context, client inference.GRPCInferenceServiceClient) error {
	canceled, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := client.ModelStreamInfer(canceled)
	if err != nil {
		return err
	}
	if err := stream.Send(request("first", []float32{1})); err != nil {
		return err
	}
	if _, err := stream.Recv(); err != nil {
		return err
	}
	cancel()
	if _, err := stream.Recv(); status.Code(err) != codes.Canceled {
		return fmt.Errorf("a canceled stream ends with %v, expected CANCELLED", err)
	}
	return checkInfer(ctx, client)
}
