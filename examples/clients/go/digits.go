// SPDX-License-Identifier: Apache-2.0
// Asks the server which digit an image shows, with nothing but Go's standard library.
//
//	go run digits.go [localhost:8000 [digits]]
//
// The tensors travel in binary form: the body is JSON, which says what the tensors are, and then
// their bytes. Exit status: 0 the server answered, 1 it refused, 2 nobody answers.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const lengthHeader = "Inference-Header-Content-Length"

// Image 3 of scikit-learn's digits, 8x8 pixels from 0 (paper) to 16 (ink).
var image = []float32{
	0, 0, 7, 15, 13, 1, 0, 0,
	0, 8, 13, 6, 15, 4, 0, 0,
	0, 2, 1, 13, 13, 0, 0, 0,
	0, 0, 2, 15, 11, 1, 0, 0,
	0, 0, 0, 1, 12, 12, 1, 0,
	0, 0, 0, 0, 1, 10, 8, 0,
	0, 0, 8, 4, 5, 14, 9, 0,
	0, 0, 7, 13, 13, 9, 0, 0,
}

// A Tensor is an input of a request or an output of a response. Its elements stand behind the JSON.
type Tensor struct {
	Name       string         `json:"name"`
	Datatype   string         `json:"datatype"`
	Shape      []int64        `json:"shape"`
	Parameters map[string]int `json:"parameters"`
}

// encode returns the body of a request for one image, and the length of its JSON.
func encode(pixels []float32) ([]byte, int, error) {
	size := 4 * len(pixels)
	head, err := json.Marshal(map[string]any{
		"inputs": []Tensor{{"image", "FP32", []int64{1, int64(len(pixels))},
			map[string]int{"binary_data_size": size}}},
		"parameters": map[string]bool{"binary_data_output": true},
	})
	if err != nil {
		return nil, 0, err
	}
	body := bytes.NewBuffer(head)
	err = binary.Write(body, binary.LittleEndian, pixels)
	return body.Bytes(), len(head), err
}

// decode returns the bytes of each output of a response.
func decode(body []byte, headLength int) (map[string][]byte, error) {
	if headLength <= 0 || headLength > len(body) {
		return nil, fmt.Errorf("the response has no binary tensors")
	}
	var answer struct {
		Outputs []Tensor `json:"outputs"`
	}
	if err := json.Unmarshal(body[:headLength], &answer); err != nil {
		return nil, err
	}
	outputs := map[string][]byte{}
	rest := body[headLength:]
	for _, output := range answer.Outputs {
		size := output.Parameters["binary_data_size"]
		if size > len(rest) {
			return nil, fmt.Errorf("output %s ends too early", output.Name)
		}
		outputs[output.Name], rest = rest[:size], rest[size:]
	}
	return outputs, nil
}

func ask(url, model string) (digit int64, probability float32, status int, err error) {
	body, headLength, err := encode(image)
	if err != nil {
		return 0, 0, 1, err
	}
	request, err := http.NewRequest("POST", url+"/v2/models/"+model+"/infer", bytes.NewReader(body))
	if err != nil {
		return 0, 0, 2, err
	}
	request.Header.Set("Content-Type", "application/octet-stream")
	request.Header.Set(lengthHeader, strconv.Itoa(headLength))
	client := http.Client{Timeout: 10 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		return 0, 0, 2, err
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, 0, 2, err
	}
	if response.StatusCode != http.StatusOK {
		return 0, 0, 1, fmt.Errorf("%s: %s", response.Status, received)
	}
	length, _ := strconv.Atoi(response.Header.Get(lengthHeader))
	outputs, err := decode(received, length)
	if err != nil {
		return 0, 0, 1, err
	}
	if len(outputs["digit"]) != 8 || len(outputs["probabilities"]) != 40 {
		return 0, 0, 1, fmt.Errorf("model %s does not answer with a digit", model)
	}
	digit = int64(binary.LittleEndian.Uint64(outputs["digit"]))
	bits := binary.LittleEndian.Uint32(outputs["probabilities"][4*digit:])
	return digit, math.Float32frombits(bits), 0, nil
}

func main() {
	url, model := "localhost:8000", "digits"
	if len(os.Args) > 1 {
		url = os.Args[1]
	}
	if len(os.Args) > 2 {
		model = os.Args[2]
	}
	if !strings.Contains(url, "://") {
		url = "http://" + url
	}
	digit, probability, status, err := ask(url, model)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(status)
	}
	fmt.Printf("%s: this is a %d (probability %.1f%%)\n", model, digit, 100*probability)
}
